from pathlib import Path

import pytest

from fakes.dispatcher import CallHarness, async_test
from marid.core.policy.policy import Effect, Policy
from marid.toolkit.call_steps import audit_record
from marid.toolkit.dispatch import CallHandler, CallState, CallStep, build_pipeline
from marid.toolkit.inventory import available_tools
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput
from marid.toolkit.spec import tool

SOURCE = Path(__file__).parents[3] / "src" / "marid"


@tool(family="runtime", effect=Effect.META)
def hello(name: str = "you") -> ToolOutput:
    """Say hello."""
    return ToolOutput(text=f"hello {name}")


def test_an_empty_policy_allows_nothing(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, hello)
    outcome = road.call("hello", {}, road.scope(Policy(layers=())))
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "refused"
    assert available_tools([hello], road.scope(Policy(layers=()))) == []


def test_nobody_else_calls_the_body_of_a_tool() -> None:
    calling = [path.name for path in SOURCE.rglob("*.py") if "spec.body(" in path.read_text("utf-8")]
    assert calling == ["call_steps.py"]


@tool(family="files", effect=Effect.READ)
def peek() -> ToolOutput:
    """Look."""
    return ToolOutput(text="seen")


@tool(family="network", effect=Effect.NET)
def fetch() -> ToolOutput:
    """Fetch."""
    return ToolOutput(text="fetched")


def test_the_body_of_what_has_effects_is_told_of_before_it_begins_and_reading_is_not(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, hello, peek, fetch)
    told: list[str] = []

    async def started(call: str) -> None:
        told.append(call)

    scope = road.scope(Policy(trusted=True), on_effect=started)
    for name in ("hello", "peek", "fetch"):
        assert road.call(name, {}, scope, call_id=name).ok
    assert told == ["hello", "fetch"]
    assert not road.call("fetch", {}, road.scope(on_effect=started), call_id="refused").ok
    assert "refused" not in told


def _step(name: str, order: list[str]) -> CallStep:
    async def step(call: CallState, proceed: CallHandler) -> Outcome:
        order.append(name)
        outcome = await proceed(call) if name != "last" else ToolOutput(text=call.name)
        order.append(f"{name} again")
        return outcome

    return step


@async_test
async def test_steps_run_around_the_ones_behind_them(tmp_path: Path) -> None:
    order: list[str] = []
    handler = build_pipeline([_step(name, order) for name in ("first", "second", "last")])
    call = CallState(name="look", args={}, scope=CallHarness(tmp_path).scope())
    assert await handler(call) == ToolOutput(text="look")
    assert order == ["first", "second", "last", "last again", "second again", "first again"]


@async_test
async def test_a_call_that_no_step_carries_out_is_a_bug(tmp_path: Path) -> None:
    call = CallState(name="look", args={}, scope=CallHarness(tmp_path).scope())
    with pytest.raises(LookupError, match="no step carries out 'look'"):
        await build_pipeline([])(call)
    with pytest.raises(LookupError, match="not looked up"):
        _ = call.tool
    assert call.tool_name == "look"


def test_a_call_that_was_never_looked_up_is_recorded_by_what_was_called(tmp_path: Path) -> None:
    call = CallState(call_id="c1", name="peek", args={"a": 1}, scope=CallHarness(tmp_path).scope(), started_at=5.0)
    record = audit_record(call, ToolFailure(code="not_found", message="no tool"))
    assert (record.time, record.call, record.tool, record.effect, record.verdict) == (5.0, "c1", "peek", "", "")
    assert (record.code, record.message, record.size) == ("not_found", "no tool", 0)
    assert audit_record(call, None).code == "cancelled"
