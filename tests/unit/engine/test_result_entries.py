from marid.core.conversation.entry import (
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    OK,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    Entry,
)
from marid.engine.reply_entries import RoundStamp
from marid.engine.result_entries import MAX_RESULT_BYTES, interrupted_entry, result_entry, started_entry
from marid.engine.turns import CallRecord
from marid.toolkit.outcome import ToolFailure, ToolOutput

STAMP = RoundStamp("talk", "r2")
CALL = CallRecord(entry=Entry(entry_type=TOOL_CALL, to="look", round="r1"), id="1")


def test_a_result_belongs_to_its_call_and_to_the_round_of_it() -> None:
    entry = result_entry(CALL, ToolOutput(text="saw"), STAMP)
    assert (entry.entry_type, entry.content, entry.sender, entry.to) == (TOOL_RESULT, "saw", "look", "talk")
    assert (entry.status, entry.tool_call_id, entry.round) == (OK, "1", "r1")


def test_a_failure_names_its_cause_in_bearable_length() -> None:
    entry = result_entry(CALL, ToolFailure(code="not_found", message="no such file"), STAMP)
    assert (entry.content, entry.status) == ("ERROR: no such file", FAILED)
    assert (
        len(result_entry(CALL, ToolFailure(code="x", message="y" * 2 * MAX_RESULT_BYTES), STAMP).content)
        == MAX_RESULT_BYTES
    )


def test_handing_over_has_results_of_its_own_kind() -> None:
    flow = CallRecord(entry=Entry(entry_type=FLOW_CALL, to="call_user"), id="1")
    entry = result_entry(flow, ToolOutput(text="ok"), STAMP)
    assert (entry.entry_type, entry.round) == (FLOW_RESULT, "r2")


def test_an_interrupted_call_says_whether_it_may_have_happened() -> None:
    unknown = interrupted_entry(CallRecord(entry=CALL.entry, id="1", started=True), STAMP)
    never = interrupted_entry(CALL, STAMP)
    assert unknown.status == never.status == INTERRUPTED
    assert "nobody knows" in unknown.content
    assert "nothing happened" in never.content
    assert all("interrupted" in entry.content for entry in (unknown, never))


def test_the_mark_before_a_deed_names_the_call() -> None:
    mark = started_entry(CALL, STAMP)
    assert (mark.entry_type, mark.tool_call_id, mark.to) == (TOOL_STARTED, "1", "look")
