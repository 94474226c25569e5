"""What is known of a conversation besides its entries, who holds it, and when its transcript begins a new partition."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from marid.core.conversation.entry import Entry
from marid.core.errors import BadInput, Refused, Unavailable

_NOTHING: Mapping[str, object] = MappingProxyType({})

# Texts that belong to a conversation; `reflection` belongs to all of a home.
NOTES = ("todos", "goals", "summary", "system_prompt", "reflection")


class ConversationMeta(NamedTuple):
    """Times are in ms since 1970, 0 for never; `extra` holds the fields of others, which survive."""

    id: str
    name: str
    title: str = ""
    provider: str = ""
    model: str = ""
    flags: Mapping[str, object] = _NOTHING
    source: str = "CLI"
    created_ms: int = 0
    last_message_ms: int = 0
    archived_ms: int = 0
    owner: str = ""
    extra: Mapping[str, object] = _NOTHING

    def public_fields(self) -> dict[str, object]:
        """By name, what a program may want: not what belongs to others."""
        return {name: value for name, value in self._asdict().items() if name not in ("extra", "flags", "owner")}


class LeaseHolder(NamedTuple):
    """Who holds a conversation; `heartbeat_ms` is when it last said that it is there."""

    pid: int = 0
    host: str = ""
    since_ms: int = 0
    heartbeat_ms: int = 0
    token: int = 0


class Expiry(NamedTuple):
    """When a conversation is destroyed by itself, in seconds; 0 is never."""

    at: int = 0
    after_inactive: int = 0


class SweepResult(NamedTuple):
    """Which conversations were destroyed as their time had come, and what a person should know about that."""

    destroyed: tuple[str, ...] = ()
    problem: str = ""


class InboxMessage(NamedTuple):
    """What one conversation has sent another; the store gives `id` and `timestamp`."""

    sender: str
    to: str
    content: str
    id: str = ""
    timestamp: int = 0


class InboxContents(NamedTuple):
    """What waits in an inbox, oldest first, each message with an id; `problem` is what its owner should know of it."""

    messages: tuple[InboxMessage, ...]
    problem: str = ""


class CurrentConversation(NamedTuple):
    """Which conversation is meant where none is named, and which was before it."""

    implied: str = "default"
    previous: str = ""


class StorageSettings(NamedTuple):
    """The settings table `storage`, and `lock_heartbeat_seconds`. The limit reached first ends a partition."""

    partition_max_entries: int = 1000
    partition_max_age_seconds: int = 2_592_000
    partition_max_tokens: int = 100_000
    bytes_per_token: int = 3
    enable_bloom_filters: bool = True
    lock_heartbeat_seconds: float = 30.0

    def with_minimums(self) -> "StorageSettings":
        """With values that are too small raised to the smallest valid ones."""
        return self._replace(
            partition_max_entries=max(1, self.partition_max_entries),
            partition_max_age_seconds=max(60, self.partition_max_age_seconds),
            partition_max_tokens=max(1, self.partition_max_tokens),
            bytes_per_token=max(1, self.bytes_per_token),
        )


DEFAULT_STORAGE = StorageSettings()


class ConversationHit(NamedTuple):
    """An entry that a search has found, and the name of its conversation."""

    conversation: str
    entry: Entry


class ConversationLocked(Unavailable):
    """Somebody else works in the conversation; `holder` is None when that one has left no name."""

    def __init__(self, message: str, holder: LeaseHolder | None) -> None:
        super().__init__(message)
        self.holder = holder


class SequenceConflict(BadInput):
    """The transcript has gone on since the caller looked; `sequence` is where it is."""

    def __init__(self, message: str, sequence: int) -> None:
        super().__init__(message)
        self.sequence = sequence


class ConversationArchived(Refused):
    """Nothing can be said or changed in a conversation that was put away; `name` is what it is called."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the conversation '{name}' is archived; restore it first")
        self.name = name


class Conflict(BadInput):
    """There is a conversation of that name."""


class Corrupt(Unavailable):
    """A file is not what it should be and cannot be made anew from others."""
