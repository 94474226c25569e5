from marid.core.caller import Caller
from marid.core.policy.approval import QuestionKind
from marid.toolkit.preview import Preview
from marid.toolkit.questions import QuestionBuilder, grant_hint

CALLER = Caller(face="mcp", conversation="c")


def _preview(plan: object = "plan", kind: QuestionKind = QuestionKind.EDIT, *, always: bool = True) -> Preview:
    return Preview(kind=kind, text="text", plan=plan, grant="tool:x", always=always)


def _asking(args: dict[str, object] | None = None, caller: Caller = CALLER, call: str = "1") -> QuestionBuilder:
    return QuestionBuilder("x", args or {"path": "a"}, caller, call, "conversation:c")


def test_the_same_call_with_the_same_plan_asks_by_the_same_id() -> None:
    first, second = _asking().build(_preview()), _asking().build(_preview())
    assert first == second
    assert (first.tool, first.text, first.scope, first.grant) == ("x", "text", "conversation:c", "tool:x")


def test_arguments_plan_call_and_caller_all_make_another_question() -> None:
    asked = [
        _asking().build(_preview()),
        _asking({"path": "b"}).build(_preview()),
        _asking().build(_preview("another")),
        _asking(call="2").build(_preview()),
        _asking(caller=CALLER._replace(conversation="d")).build(_preview()),
        _asking().build(_preview(kind=QuestionKind.COMMAND)),
    ]
    assert len({question.id for question in asked}) == len(asked)
    assert asked[0].hash != asked[1].hash
    assert asked[0].hash != asked[2].hash


def test_arguments_that_are_no_json_are_hashed_all_the_same() -> None:
    assert _asking({"x": b"1"}).build(_preview()).id != _asking({"x": b"2"}).build(_preview()).id


def test_the_hint_names_the_flag() -> None:
    assert "--allow write" in grant_hint(_preview())
    assert "--trust" in grant_hint(_preview(always=False))
    assert "--allow exec" in grant_hint(_preview(kind=QuestionKind.COMMAND, always=False))
    assert "marid allow" in grant_hint(_preview(kind=QuestionKind.OUTSIDE))
    assert all(grant_hint(_preview(kind=kind)) for kind in QuestionKind)
