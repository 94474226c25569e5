from pathlib import Path

from fakes.dispatcher import CallHarness
from marid.core.events import Notice
from marid.core.hooks import CallChange, Hooks, OutputChange, OutputPayload
from marid.core.policy.policy import Effect, Verdict
from marid.toolkit.hook_steps import HookCall, ObserveCall
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool


@tool(family="files", effect=Effect.READ)
def look(path: str) -> ToolOutput:
    """Look."""
    return ToolOutput(text=f"saw {path} " + "x" * 50)


def test_the_steps_stand_around_every_call_and_pass_it_on_without_hooks(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, look)
    assert [type(step) for step in road.dispatcher.steps if isinstance(step, HookCall | ObserveCall)] == [
        ObserveCall,
        HookCall,
    ]
    assert road.call("look", {"path": "a"}).text.startswith("saw a")


def test_observers_see_the_output_before_and_after_it_is_clipped(tmp_path: Path) -> None:
    road, seen = CallHarness(tmp_path, look, max_bytes=20), list[OutputPayload]()
    hooks = Hooks(pre_tool_output=(lambda payload: OutputChange("y" * 40),), post_tool_output=(seen.append,))
    outcome = road.call("look", {"path": "a"}, road.scope(hooks=hooks))
    (payload,) = seen
    assert (payload.output, payload.final) == ("y" * 40, outcome.text)
    assert payload.final != payload.output


def test_observers_see_a_failure_and_one_that_fails_leaves_a_note(tmp_path: Path) -> None:
    def broken(payload: OutputPayload) -> None:
        raise OSError(payload.final)

    road = CallHarness(tmp_path, look)
    hooks = Hooks(pre_tool=(lambda payload: CallChange(verdict=Verdict.DENY),), post_tool=(broken,))
    outcome = road.call("look", {"path": "a"}, road.scope(hooks=hooks))
    assert "a hook denies it" in outcome.text
    assert [what.text for what in road.heard if isinstance(what, Notice)] == [
        f"the hook 'broken' failed: OSError: {outcome.text}"
    ]
