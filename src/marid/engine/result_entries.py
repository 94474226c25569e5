"""What calls came to, as entries."""

from marid.core.conversation.entry import (
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    OK,
    TOOL_RESULT,
    TOOL_STARTED,
    Entry,
)
from marid.engine.reply_entries import RoundStamp
from marid.engine.turns import CallRecord
from marid.toolkit.outcome import Outcome, ToolOutput

MAX_RESULT_BYTES = 64 * 1024
"""Bytes of one result that a model reads."""
OUTCOME_UNKNOWN = (
    "interrupted: this call had begun when the work broke off, and nobody knows whether it happened. "
    "Look before you make it again."
)
NOT_CALLED = "interrupted: the work broke off before this call was made; nothing happened."


def result_entry(call: CallRecord, outcome: Outcome, stamp: RoundStamp) -> Entry:
    """A result as the model reads it."""
    text = outcome.text if isinstance(outcome, ToolOutput) else outcome.text[:MAX_RESULT_BYTES]
    return _entry(call, text, OK if outcome.ok else FAILED, stamp)


def interrupted_entry(call: CallRecord, stamp: RoundStamp) -> Entry:
    """The result of a call that nobody will make any more, or that somebody may have made."""
    return _entry(call, OUTCOME_UNKNOWN if call.started else NOT_CALLED, INTERRUPTED, stamp)


def started_entry(call: CallRecord, stamp: RoundStamp) -> Entry:
    """The mark before whatever a call does that cannot be taken back."""
    return Entry(
        entry_type=TOOL_STARTED, sender=stamp.conversation, to=call.name, round=stamp.round, tool_call_id=call.id
    )


def _entry(call: CallRecord, text: str, status: str, stamp: RoundStamp) -> Entry:
    return Entry(
        entry_type=FLOW_RESULT if call.entry.entry_type == FLOW_CALL else TOOL_RESULT,
        content=text,
        sender=call.name,
        to=stamp.conversation,
        status=status,
        round=call.entry.round or stamp.round,
        tool_call_id=call.id,
    )
