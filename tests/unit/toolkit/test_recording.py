from pathlib import Path

from fakes.road import CALLER, Road
from marid.core.policy import Effect, Verdict
from marid.toolkit.outcome import Done, Failed
from marid.toolkit.recording import Trip, record_of
from marid.toolkit.spec import ToolSpec

SPEC = ToolSpec(name="look", family="files", effect=Effect.READ, body=lambda: Done(text=""))


def _trip() -> Trip:
    return Trip(call="c1", name="peek", args={"a": 1}, started=5.0, since=0.0)


def test_a_call_that_went_well_is_recorded_by_the_tools_own_name(tmp_path: Path) -> None:
    trip = _trip()
    trip.spec, trip.verdict, trip.approval, trip.acted = SPEC, Verdict.ASK, "q1", True
    record = record_of(trip, Done(text="12345"), Road(tmp_path).scope())
    assert (record.time, record.call, record.caller, record.tool) == (5.0, "c1", CALLER, "look")
    assert (record.effect, record.verdict, record.approval, record.durable) == ("read", "ask", "q1", True)
    assert (record.code, record.message, record.size, record.trace) == ("ok", "", 5, "")
    assert record.seconds > 0


def test_a_call_of_no_tool_is_recorded_by_what_was_called(tmp_path: Path) -> None:
    record = record_of(_trip(), Failed(code="not_found", message="no tool"), Road(tmp_path).scope())
    assert (record.tool, record.effect, record.verdict) == ("peek", "", "")
    assert (record.code, record.message, record.size) == ("not_found", "no tool", 0)


def test_a_call_without_an_outcome_was_cancelled(tmp_path: Path) -> None:
    assert record_of(_trip(), None, Road(tmp_path).scope()).code == "cancelled"


def test_a_bug_is_recorded_with_its_trace(tmp_path: Path) -> None:
    trip = _trip()
    try:
        _ = 1 / 0
    except ZeroDivisionError as error:
        trip.bug = error
    record = record_of(trip, Failed(code="internal", message="x"), Road(tmp_path).scope())
    assert "ZeroDivisionError" in record.trace
    assert "test_recording.py" in record.trace
