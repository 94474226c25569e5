"""One entry of a conversation's transcript, and the ids of entries, conversations and runs.

Ids are UUIDs of version 7 (RFC 9562) as lower-case text. They are opaque: compare them, never parse them. Homes also
hold 26-character ids and UUIDs of other versions, which stay valid; those do not sort together with these, so order by
time, not by id.
"""

import os
import time
from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple, cast

_NOTHING: Mapping[str, object] = MappingProxyType({})

MESSAGE = "message"
TOOL_CALL = "tool_call"
TOOL_RESULT = "tool_result"
TOOL_STARTED = "tool_started"
# The calls by which a model ends its turn or goes on, and their results.
FLOW_CALL = "flow_control_call"
FLOW_RESULT = "flow_control_result"
CONTEXT_CREATED = "context_created"
COMPACTION = "compaction"
ARCHIVAL = "archival"
SYSTEM_PROMPT_CHANGED = "system_prompt_changed"

# The window starts at the last of these.
ANCHORS = frozenset({CONTEXT_CREATED, COMPACTION, ARCHIVAL})
# Entries that are never sent to a model.
NEVER_IN_WINDOW = frozenset({SYSTEM_PROMPT_CHANGED})

OK, STOPPED, FAILED, INTERRUPTED = "ok", "stopped", "failed", "interrupted"

USER, AGENT, SYSTEM = "user", "agent", "system"

TO_USER, TO_AGENT = "call_user", "call_agent"
"""The tools that end the round, and that let the model go on."""

THOUGHTS = "thoughts"
"""A key of metadata: the model's reasoning before an entry."""


class Entry(NamedTuple):
    """What was said or done. A store keeps entries of unknown types.

    On append the store sets `id`, `sequence` (from 1, growing) and `time_ms` if they are empty. `extra` holds fields of
    other programs, and fields of ours with invalid values.
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
        """In whole seconds, as the wire formats have it."""
        return self.time_ms // 1000


def role_of(entry: Entry) -> str:
    """The role of the entry. If it has none, an entry to `user` is the agent's, which is wrong only for a conversation
    named `user`.
    """
    if entry.role:
        return entry.role
    if entry.sender == SYSTEM:
        return SYSTEM
    return AGENT if entry.to == USER else USER


def call_arguments(text: str) -> dict[str, object] | None:
    """The arguments in the content of a call: {} if it is blank, None if it is not a JSON object."""
    import json  # imported when used: not needed to start

    if not text.strip():
        return {}
    try:
        found: object = json.loads(text, parse_constant=_parse_finite, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def _parse_finite(text: str) -> float:
    """Python reads NaN and Infinity, which are not JSON; services reject a history with one. Raises: ValueError."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"'{text}' is not a JSON number")
    return value


RANDOM_BITS = 62


def new_id() -> str:
    """A new id; it sorts after every id that was made at least a quarter of a microsecond earlier."""
    return make_id(time.time_ns(), int.from_bytes(os.urandom(8), "big") >> 64 - RANDOM_BITS)


def make_id(time_ns: int, random: int) -> str:
    """The id of a time and of RANDOM_BITS random bits.

    The 12 bits after the milliseconds hold the fraction of the millisecond, so that ids sort without a shared counter.
    """
    millisecond, nanosecond = divmod(time_ns, 1_000_000)
    fraction = (nanosecond << 12) // 1_000_000
    digits = f"{millisecond << 80 | 7 << 76 | fraction << 64 | 2 << RANDOM_BITS | random:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
