"""What calls came to, as entries."""

from marid.core.entry import FAILED, FLOW_CALL, FLOW_RESULT, INTERRUPTED, OK, TOOL_RESULT, TOOL_STARTED, Entry
from marid.engine.replies import Stamp
from marid.engine.turns import Made
from marid.toolkit.outcome import Done, Outcome

MOST_RESULT = 64 * 1024
"""Bytes of one result that a model reads."""
UNKNOWN = (
    "interrupted: this call had begun when the work broke off, and nobody knows whether it happened. "
    "Look before you make it again."
)
NOT_MADE = "interrupted: the work broke off before this call was made; nothing happened."


def result_entry(call: Made, outcome: Outcome, stamp: Stamp) -> Entry:
    """A result as the model reads it."""
    text = outcome.text if isinstance(outcome, Done) else outcome.text[:MOST_RESULT]
    return _entry(call, text, OK if outcome.ok else FAILED, stamp)


def interrupted_entry(call: Made, stamp: Stamp) -> Entry:
    """The result of a call that nobody will make any more, or that somebody may have made."""
    return _entry(call, UNKNOWN if call.started else NOT_MADE, INTERRUPTED, stamp)


def started_entry(call: Made, stamp: Stamp) -> Entry:
    """The mark before whatever a call does that cannot be taken back."""
    return Entry(entry_type=TOOL_STARTED, sender=stamp.name, to=call.name, round=stamp.round, tool_call_id=call.id)


def _entry(call: Made, text: str, status: str, stamp: Stamp) -> Entry:
    return Entry(
        entry_type=FLOW_RESULT if call.entry.entry_type == FLOW_CALL else TOOL_RESULT,
        content=text,
        sender=call.name,
        to=stamp.name,
        status=status,
        round=call.entry.round or stamp.round,
        tool_call_id=call.id,
    )
