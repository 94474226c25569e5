"""One line of a conversation's transcript, as a value."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, object] = MappingProxyType({})

MESSAGE = "message"
TOOL_CALL = "tool_call"
TOOL_RESULT = "tool_result"
TOOL_STARTED = "tool_started"
# The calls by which a model says who has the word next, and what they came to.
FLOW_CALL = "flow_control_call"
FLOW_RESULT = "flow_control_result"
CONTEXT_CREATED = "context_created"
COMPACTION = "compaction"
ARCHIVAL = "archival"
SYSTEM_PROMPT_CHANGED = "system_prompt_changed"

# The window begins with the last of these.
ANCHORS = frozenset({CONTEXT_CREATED, COMPACTION, ARCHIVAL})
# What the transcript holds and no model is ever sent.
NEVER_IN_WINDOW = frozenset({SYSTEM_PROMPT_CHANGED})

OK, STOPPED, FAILED, INTERRUPTED = "ok", "stopped", "failed", "interrupted"

USER, AGENT, SYSTEM = "user", "agent", "system"

TO_USER, TO_AGENT = "call_user", "call_agent"
"""The tools that give the word to the user, and back to the model."""

THOUGHTS = "thoughts"
"""A key of metadata: what the model thought before an entry."""


class Entry(NamedTuple):
    """What was said or done. Types are open: a store keeps those that it does not know.

    The store gives what is empty when it is appended: `id`, `sequence` (from 1, growing) and `time_ms`. `extra` holds
    the fields that somebody else has put into the line, and those of a known name whose value makes no sense.
    """

    entry_type: str
    content: str = ""
    sender: str = ""
    to: str = ""
    role: str = ""
    id: str = ""
    sequence: int = 0
    time_ms: int = 0
    status: str = OK
    round: str = ""
    tool_call_id: str = ""
    metadata: Mapping[str, object] = _NOTHING
    extra: Mapping[str, object] = _NOTHING

    @property
    def timestamp(self) -> int:
        """In whole seconds, as the documents have it."""
        return self.time_ms // 1000


def role_of(entry: Entry) -> str:
    """Who speaks: what the entry says, else, as in the documents, the agent whenever it speaks to `user`.

    A conversation that is called `user` needs the former.
    """
    if entry.role:
        return entry.role
    if entry.sender == SYSTEM:
        return SYSTEM
    return AGENT if entry.to == USER else USER
