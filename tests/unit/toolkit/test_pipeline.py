from pathlib import Path

import pytest

from fakes.dispatcher import CallHarness, run_within
from marid.toolkit.call_steps import audit_record
from marid.toolkit.dispatch import CallHandler, CallState, CallStep, build_pipeline
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput


def _step(name: str, order: list[str]) -> CallStep:
    async def step(call: CallState, proceed: CallHandler) -> Outcome:
        order.append(name)
        outcome = await proceed(call) if name != "last" else ToolOutput(text=call.name)
        order.append(f"{name} again")
        return outcome

    return step


def test_steps_run_around_the_ones_behind_them(tmp_path: Path) -> None:
    order: list[str] = []
    handler = build_pipeline([_step(name, order) for name in ("first", "second", "last")])
    call = CallState(name="look", args={}, scope=CallHarness(tmp_path).scope())
    assert run_within(9, lambda: handler(call)) == ToolOutput(text="look")
    assert order == ["first", "second", "last", "last again", "second again", "first again"]


def test_a_call_that_no_step_carries_out_is_a_bug(tmp_path: Path) -> None:
    call = CallState(name="look", args={}, scope=CallHarness(tmp_path).scope())
    with pytest.raises(LookupError, match="no step carries out 'look'"):
        run_within(9, lambda: build_pipeline([])(call))
    with pytest.raises(LookupError, match="not looked up"):
        _ = call.tool
    assert call.tool_name == "look"


def test_a_call_that_was_never_looked_up_is_recorded_by_what_was_called(tmp_path: Path) -> None:
    call = CallState(call_id="c1", name="peek", args={"a": 1}, scope=CallHarness(tmp_path).scope(), started_at=5.0)
    record = audit_record(call, ToolFailure(code="not_found", message="no tool"))
    assert (record.time, record.call, record.tool, record.effect, record.verdict) == (5.0, "c1", "peek", "", "")
    assert (record.code, record.message, record.size) == ("not_found", "no tool", 0)
    assert audit_record(call, None).code == "cancelled"
