import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.dispatcher import CALLER, CallHarness, ScriptedAsker, run_within
from marid.core.errors import Exhausted, Refused, Unavailable
from marid.core.policy.approval import ApprovalAnswer, QuestionKind
from marid.core.policy.policy import Effect, Policy, Verdict
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dispatch import CallState
from marid.toolkit.outcome import CommandPlan, EditPlan, PlannedChange, ToolOutput
from marid.toolkit.plan_executor import COMMIT_TIMEOUT, build_question
from marid.toolkit.questions import Preview
from marid.toolkit.spec import ToolSpec

SPEC = ToolSpec(name="write", family="files", effect=Effect.WRITE, body=lambda: ToolOutput(text=""))


def _call(scope: CallScope, verdict: Verdict | None = Verdict.ALLOW, call_id: str = "") -> CallState:
    return CallState(name="write", args={}, scope=scope, spec=SPEC, verdict=verdict, call_id=call_id)


def _edit(road: CallHarness, name: str = "a") -> EditPlan:
    return EditPlan(changes=(PlannedChange(path=road.path_scope.resolve(name), before=None, after=b"x"),), text="done")


def test_a_plan_that_nobody_has_judged_is_refused(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    with pytest.raises(Refused, match="denies what it plans"):
        run_within(9, lambda: road.executor.execute(_edit(road), _call(road.scope(Policy(trusted=True)), None)))


@pytest.mark.parametrize(
    ("kind", "kept"), [(QuestionKind.FETCH, True), (QuestionKind.OUTSIDE, True), (QuestionKind.EDIT, False)]
)
def test_a_yes_to_a_host_or_a_path_holds_on(tmp_path: Path, kind: QuestionKind, kept: bool) -> None:
    road = CallHarness(tmp_path)
    preview = Preview(kind=kind, text="", plan="", grant="g", always=True)
    scope = road.scope(asker=ScriptedAsker(ApprovalAnswer.YES))
    run_within(9, lambda: road.executor.require_approval(preview, _call(scope)))
    assert road.approvals.has_grant("conversation:talk", "g") is kept


def test_a_standing_grant_is_not_looked_for_where_always_is_not_offered(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    road.approvals.add_grant("conversation:talk", "g")
    preview = Preview(kind=QuestionKind.COMMAND, text="", plan="", grant="g", always=False)
    with pytest.raises(Refused, match="--allow exec"):
        run_within(9, lambda: road.executor.require_approval(preview, _call(road.scope())))


def test_writing_has_a_time_of_its_own(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    free = threading.Event()
    assert COMMIT_TIMEOUT >= 10

    def wait(changes: Sequence[PlannedChange]) -> None:
        del changes
        free.wait(20)

    slow = replace(road.executor, commit=wait, commit_timeout=0.02)
    with pytest.raises(Exhausted, match="check whether it happened"):
        run_within(9, lambda: slow.execute(_edit(road), _call(road.scope(Policy(trusted=True)))))
    free.set()


def test_a_deed_begins_after_the_yes_and_after_that_is_told(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    order: list[str] = []

    async def started(call: str) -> None:
        order.append(f"{call} {(tmp_path / 'a').exists()} {len(asker.asked)}")

    asker = ScriptedAsker(ApprovalAnswer.YES)
    scope = road.scope(asker=asker, on_effect=started)
    run_within(9, lambda: road.executor.execute(_edit(road), _call(scope, Verdict.ASK, "c1")))
    assert order == ["c1 False 1"]
    assert (tmp_path / "a").read_bytes() == b"x"


def test_what_cannot_be_told_is_not_done(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)

    async def started(call: str) -> None:
        raise Unavailable(f"no room to note {call}")

    call = _call(road.scope(Policy(trusted=True), on_effect=started))
    plan = CommandPlan(argv=("true",), display="true", cwd=road.path_scope.resolve("."))
    for result in (_edit(road), plan):
        with pytest.raises(Unavailable, match="no room"):
            run_within(9, lambda result=result: road.executor.execute(result, call))
    assert (list(tmp_path.iterdir()), road.runner.plans, call.has_acted) == ([], [], False)


def test_nothing_is_told_of_an_edit_that_changes_nothing(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    (tmp_path / "a").write_bytes(b"x")
    told: list[str] = []

    async def started(call: str) -> None:
        told.append(call)

    same = EditPlan(changes=(PlannedChange(path=road.path_scope.resolve("a"), before=b"x", after=b"x"),), text="done")
    run_within(9, lambda: road.executor.execute(same, _call(road.scope(on_effect=started))))
    assert told == []


def test_caller_call_arguments_and_plan_make_the_id_of_a_question(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    preview = Preview(QuestionKind.EDIT, "text", "plan", "tool:x", always=True)
    call = _call(road.scope(), call_id="1")
    first = build_question(preview, call)
    assert build_question(preview, _call(road.scope(), call_id="1")) == first
    assert (first.tool, first.text, first.scope, first.grant) == ("write", "text", "conversation:talk", "tool:x")
    others = [
        build_question(preview, replace(call, args={"path": "b"})),
        build_question(preview, replace(call, args={"path": b"b"})),
        build_question(preview._replace(plan="another"), call),
        build_question(preview._replace(kind=QuestionKind.COMMAND), call),
        build_question(preview, replace(call, call_id="2")),
        build_question(preview, replace(call, scope=road.scope(caller=CALLER._replace(conversation="d")))),
    ]
    assert len({question.id for question in (first, *others)}) == 7
    assert len({question.hash for question in (first, *others)}) == 5
