from pathlib import Path

from fakes.road import CALLER, Road
from marid.core.policy.policy import Effect, Verdict
from marid.toolkit.call_steps import PLANNING_EFFECTS, audit_record
from marid.toolkit.outcome import ToolFailure, ToolOutput
from marid.toolkit.pipeline import CallState
from marid.toolkit.spec import ToolSpec

SPEC = ToolSpec(name="look", family="files", effect=Effect.READ, body=lambda: ToolOutput(text=""))


def _call(root: Path) -> CallState:
    return CallState(
        call_id="c1", name="peek", args={"a": 1}, scope=Road(root).scope(), started_at=5.0, start_counter=0.0
    )


def test_a_call_that_went_well_is_recorded_by_the_tools_own_name(tmp_path: Path) -> None:
    call = _call(tmp_path)
    call.spec, call.verdict, call.approval, call.has_acted = SPEC, Verdict.ASK, "q1", True
    record = audit_record(call, ToolOutput(text="12345"))
    assert (record.time, record.call, record.caller, record.tool) == (5.0, "c1", CALLER, "look")
    assert (record.effect, record.verdict, record.approval, record.durable) == ("read", "ask", "q1", True)
    assert (record.code, record.message, record.size, record.trace) == ("ok", "", 5, "")
    assert record.seconds > 0


def test_a_call_of_no_tool_is_recorded_by_what_was_called(tmp_path: Path) -> None:
    record = audit_record(_call(tmp_path), ToolFailure(code="not_found", message="no tool"))
    assert (record.tool, record.effect, record.verdict) == ("peek", "", "")
    assert (record.code, record.message, record.size) == ("not_found", "no tool", 0)


def test_a_call_without_an_outcome_was_cancelled(tmp_path: Path) -> None:
    assert audit_record(_call(tmp_path), None).code == "cancelled"


def test_a_bug_is_recorded_with_its_trace(tmp_path: Path) -> None:
    call = _call(tmp_path)
    try:
        _ = 1 / 0
    except ZeroDivisionError as error:
        call.bug = error
    record = audit_record(call, ToolFailure(code="internal", message="x"))
    assert "ZeroDivisionError" in record.trace
    assert "test_call_steps.py" in record.trace


def test_writing_and_running_are_planned() -> None:
    assert {Effect.WRITE, Effect.EXEC} == PLANNING_EFFECTS
