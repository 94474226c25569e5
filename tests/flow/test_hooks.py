"""Every hook point of a round, a call, a message and a conversation, through the whole program."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fakes.dispatcher import ScriptedAsker
from fakes.model import FakeModel, answer
from fakes.real_app import RoundRecorder, real_scope, run_prompt, stored_entries
from fakes.rounds import tool_call
from marid.app import conversations
from marid.app.app import RequestScope
from marid.app.tool_session import ToolAccess
from marid.core.conversation.entry import TO_AGENT, TO_USER, TOOL_RESULT
from marid.core.events import Notice
from marid.core.hooks import (
    AccessPayload,
    CallChange,
    CallPayload,
    Delivery,
    DeliveryPayload,
    Denial,
    Hooks,
    LoopChange,
    LoopPayload,
    OutputChange,
    OutputPayload,
    PromptPayload,
    RequestPayload,
    RunPayload,
    ToolFilter,
)
from marid.core.model_io import ModelRequest
from marid.core.policy.approval import ApprovalAnswer
from marid.core.policy.policy import Verdict
from marid.core.round_events import FuelStatus

FLAGS: dict[str, object] = {"model": "fake-model"}
TRUST = ToolAccess(trust=True)


class Recorder:
    """Keeps the payloads of every point, in the order in which they came."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def at(self, point: str) -> Any:
        """A hook that records and changes nothing."""

        def hook(payload: Any) -> None:
            self.seen.append((point, payload))

        return hook

    def of(self, point: str) -> list[Any]:
        return [payload for name, payload in self.seen if name == point]


def hooked(place: Path, model: FakeModel, hooks: Hooks) -> RequestScope:
    """The program with hooks."""
    scope = real_scope(place, model)
    return scope._replace(app=scope.app._replace(hooks=hooks))


def call(name: str, **arguments: object) -> Any:
    return tool_call(name, json.dumps(arguments), id=name)


def results(app: RequestScope) -> dict[str, str]:
    """The results by the tool."""
    return {entry.sender: entry.content for entry in stored_entries(app) if entry.entry_type == TOOL_RESULT}


def test_every_point_fires(tmp_path: Path) -> None:
    recorder = Recorder()
    points = [field.name for field in fields(Hooks)]
    hooks = Hooks(**{point: (recorder.at(point),) for point in points})
    (tmp_path / "outside").write_text("far")
    model = FakeModel(
        answer(
            call("write_file", path="a.txt", content="one"),
            call("run_shell", command="true"),
            call("fetch_url", url="https://example.invalid/x"),
            call("read_file", path=str(tmp_path / "outside")),
            call("send_message", to="other", content="hi"),
        ),
        answer("Done."),
    )
    app = hooked(tmp_path, model, hooks)
    flags = {**FLAGS, "outside": "ask"}
    run_prompt(app, "go", None, ScriptedAsker(*[ApprovalAnswer.YES] * 9), flags=flags, access=TRUST)
    conversations.resolve_name(app, "other", switch=True)
    conversations.clear(app, "c")
    assert {point for point, _ in recorder.seen} == set(points)
    assert [point for point, _ in recorder.seen][:2] == ["pre_message", "on_start"]
    (started,), (ended,) = recorder.of("on_start"), recorder.of("on_end")
    assert started == ended == RunPayload("c", stored_entries(app)[0].round)
    assert recorder.of("pre_message") == [PromptPayload("c", "go")]
    assert [(one.prompt, one.response) for one in recorder.of("post_message")] == [("go", "Done.")]
    (batch,) = recorder.of("post_tool_batch")
    assert [name for name, _ in batch.calls] == [one.name for one in model.asked[1].messages[1].calls]
    (write,) = recorder.of("pre_file_write")
    assert (write.tool, write.subject, write.content) == ("write_file", f"{tmp_path}/project/a.txt", b"one")
    assert recorder.of("pre_shell_exec")[0].subject == "true"
    assert recorder.of("pre_fetch_url")[0].subject == "https://example.invalid/x"
    assert recorder.of("pre_file_read")[0].subject == str(tmp_path / "outside")
    assert recorder.of("post_send_message") == [DeliveryPayload("c", "other", "hi", "inbox")]
    assert recorder.of("on_context_switch")[0].current == "other"
    assert {one.tool for one in recorder.of("pre_tool")} == {one.tool for one in recorder.of("post_tool")}


def test_hooks_change_the_prompt_the_system_prompt_the_tools_and_the_request(tmp_path: Path) -> None:
    def seeded(payload: RequestPayload) -> ModelRequest:
        return replace(payload.request, parameters=replace(payload.request.parameters, seed=7))

    hooks = Hooks(
        pre_message=(lambda payload: f"{payload.prompt}!", lambda payload: f"{payload.prompt}?"),
        pre_system_prompt=(lambda payload: "ONE", lambda payload: "TWO"),
        post_system_prompt=(lambda payload: f"END {payload.conversation}",),
        pre_api_tools=(
            lambda payload: ToolFilter(include=frozenset({"read_file", "get_tree"})),
            lambda payload: ToolFilter(exclude=frozenset({"get_tree"})),
        ),
        pre_api_request=(seeded,),
    )
    model = FakeModel(answer("Yes."))
    app = hooked(tmp_path, model, hooks)
    run_prompt(app, "go", flags=FLAGS)
    (request,) = model.asked
    assert stored_entries(app)[0].content.endswith("go!?")
    assert request.system.startswith("ONE\n\nTWO\n\n")
    assert request.system.endswith("\n\nEND c")
    assert [tool.name for tool in request.tools] == ["read_file"]
    assert request.parameters.seed == 7


def test_hooks_set_the_fuel_and_who_comes_next(tmp_path: Path) -> None:
    starts: list[LoopPayload] = []

    def once(payload: LoopPayload) -> LoopChange:
        starts.append(payload)
        return LoopChange(fallback=TO_AGENT if len(starts) == 1 else TO_USER, fuel=20 - len(starts))

    hooks = Hooks(pre_agentic_loop=(once,), post_tool_batch=(lambda payload: LoopChange(fuel_delta=-5),))
    model = FakeModel(answer(call("get_tree")), answer("First."), answer("Second."))
    app, listener = hooked(tmp_path, model, hooks), RoundRecorder()
    end = run_prompt(app, "go", listener, flags=FLAGS)
    assert (end.text, len(model.asked)) == ("Second.", 3)
    assert [what.remaining for what in listener.of(FuelStatus)] == [30, 13, 12]
    assert [one.fallback for one in starts] == [TO_USER, TO_AGENT]


def test_hooks_change_arguments_and_output_of_a_call(tmp_path: Path) -> None:
    shown: list[OutputPayload] = []

    def other_path(payload: CallPayload) -> CallChange | None:
        return CallChange({**payload.arguments, "path": "b"}) if payload.tool == "read_file" else None

    hooks = Hooks(
        pre_tool=(other_path,),
        pre_tool_output=(
            lambda payload: OutputChange(payload.output.upper(), stop=True),
            lambda payload: OutputChange("never"),
        ),
        post_tool=(shown.append,),
    )
    app = hooked(tmp_path, FakeModel(answer(call("read_file", path="a")), answer("So.")), hooks)
    (tmp_path / "project" / "b").write_text("beta")
    run_prompt(app, "go", flags=FLAGS)
    assert "BETA" in results(app)["read_file"]
    assert [(one.tool, dict(one.arguments), "BETA" in one.final) for one in shown] == [
        ("read_file", {"path": "a"}, True)
    ]


def test_arguments_of_a_hook_are_parsed_and_a_hook_is_only_stricter(tmp_path: Path) -> None:
    def change(payload: CallPayload) -> CallChange | None:
        changes = {
            "read_file": CallChange({"wrong": 1}),
            "get_tree": CallChange(verdict=Verdict.DENY, reason="not today"),
            "write_file": CallChange(verdict=Verdict.ALLOW),
            "update_todos": CallChange(verdict=Verdict.ASK),
        }
        return changes[payload.tool]

    model = FakeModel(
        answer(
            call("read_file", path="a"),
            call("get_tree"),
            call("write_file", path="a", content="x"),
            call("update_todos", content="x"),
        ),
        answer("So."),
    )
    app = hooked(tmp_path, model, Hooks(pre_tool=(change,)))
    run_prompt(app, "go", flags=FLAGS)
    made = results(app)
    assert "no parameter is called 'wrong'" in made["read_file"]
    assert "not today" in made["get_tree"]
    assert "needs the approval" in made["write_file"]
    assert "needs the approval" in made["update_todos"]


def test_hooks_deny_access_and_one_that_fails_denies_too(tmp_path: Path) -> None:
    def broken(payload: AccessPayload) -> Denial | None:
        raise ZeroDivisionError

    def deny(payload: AccessPayload) -> Denial:
        return Denial(f"no {payload.subject}")

    hooks = Hooks(pre_file_write=(broken,), pre_shell_exec=(deny,), pre_fetch_url=(deny,), pre_file_read=(deny,))
    (tmp_path / "outside").write_text("far")
    model = FakeModel(
        answer(
            call("write_file", path="a", content="x"),
            call("run_shell", command="touch b"),
            call("fetch_url", url="https://example.invalid/"),
            call("read_file", path=str(tmp_path / "outside")),
        ),
        answer("So."),
    )
    app, listener = hooked(tmp_path, model, hooks), RoundRecorder()
    asker = ScriptedAsker(*[ApprovalAnswer.YES] * 4)
    run_prompt(app, "go", listener, asker, flags={**FLAGS, "outside": "ask"}, access=TRUST)
    made = results(app)
    assert "the hook 'broken' failed: ZeroDivisionError" in made["write_file"]
    assert "no touch b" in made["run_shell"]
    assert "no https://example.invalid/" in made["fetch_url"]
    assert "no /" in made["read_file"]
    assert (asker.asked, list((tmp_path / "project").iterdir())) == ([], [])
    assert [note.text for note in listener.of(Notice) if "broken" in note.text]


def test_a_hook_delivers_a_message_and_one_that_fails_does_not_stop_a_round(tmp_path: Path) -> None:
    def broken(payload: object) -> None:
        raise OSError("gone")

    via: list[str] = []
    hooks = Hooks(
        pre_send_message=(lambda payload: Delivery("pigeon"),),
        post_send_message=(lambda payload: via.append(payload.via),),
        pre_message=(broken,),
        post_message=(broken,),
    )
    model = FakeModel(answer(call("send_message", to="other", content="hi")), answer("Sent."))
    app, listener = hooked(tmp_path, model, hooks), RoundRecorder()
    assert run_prompt(app, "go", listener, flags=FLAGS).text == "Sent."
    assert via == ["pigeon"]
    assert app.stores.inbox.peek("other") == ()
    assert [note.text for note in listener.of(Notice)].count("the hook 'broken' failed: OSError: gone") == 2
