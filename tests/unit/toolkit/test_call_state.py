from pathlib import Path

from fakes.road import CALLER, Road
from marid.core.policy.policy import Effect, Verdict
from marid.toolkit.call_state import CallState, audit_record
from marid.toolkit.outcome import ToolFailure, ToolOutput
from marid.toolkit.spec import ToolSpec

SPEC = ToolSpec(name="look", family="files", effect=Effect.READ, body=lambda: ToolOutput(text=""))


def _trip() -> CallState:
    return CallState(call_id="c1", name="peek", args={"a": 1}, started_at=5.0, start_counter=0.0)


def test_a_call_that_went_well_is_recorded_by_the_tools_own_name(tmp_path: Path) -> None:
    trip = _trip()
    trip.spec, trip.verdict, trip.approval, trip.has_acted = SPEC, Verdict.ASK, "q1", True
    record = audit_record(trip, ToolOutput(text="12345"), Road(tmp_path).scope())
    assert (record.time, record.call, record.caller, record.tool) == (5.0, "c1", CALLER, "look")
    assert (record.effect, record.verdict, record.approval, record.durable) == ("read", "ask", "q1", True)
    assert (record.code, record.message, record.size, record.trace) == ("ok", "", 5, "")
    assert record.seconds > 0


def test_a_call_of_no_tool_is_recorded_by_what_was_called(tmp_path: Path) -> None:
    record = audit_record(_trip(), ToolFailure(code="not_found", message="no tool"), Road(tmp_path).scope())
    assert (record.tool, record.effect, record.verdict) == ("peek", "", "")
    assert (record.code, record.message, record.size) == ("not_found", "no tool", 0)


def test_a_call_without_an_outcome_was_cancelled(tmp_path: Path) -> None:
    assert audit_record(_trip(), None, Road(tmp_path).scope()).code == "cancelled"


def test_a_bug_is_recorded_with_its_trace(tmp_path: Path) -> None:
    trip = _trip()
    try:
        _ = 1 / 0
    except ZeroDivisionError as error:
        trip.bug = error
    record = audit_record(trip, ToolFailure(code="internal", message="x"), Road(tmp_path).scope())
    assert "ZeroDivisionError" in record.trace
    assert "test_call_state.py" in record.trace
