"""Metadata, locks, inboxes, storage settings and errors of conversations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from marid.core.conversation.entry import Entry
from marid.core.errors import BadInput, Refused, Unavailable

_NOTHING: Mapping[str, object] = MappingProxyType({})

# Texts of a conversation; `reflection` is shared by all of a home.
NOTES = ("todos", "goals", "summary", "system_prompt", "reflection")


class ConversationMeta(NamedTuple):
    """Times are in ms since 1970, 0 for never; `extra` holds the fields of other programs, which are kept."""

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
        """The fields that programs may see, by name."""
        return {name: value for name, value in self._asdict().items() if name not in ("extra", "flags", "owner")}


class LeaseHolder(NamedTuple):
    """The process that holds a conversation; `heartbeat_ms` is its last sign of life."""

    pid: int = 0
    host: str = ""
    since_ms: int = 0
    heartbeat_ms: int = 0
    token: int = 0


class Expiry(NamedTuple):
    """When a conversation is destroyed without a command, in seconds; 0 is never."""

    at: int = 0
    after_inactive: int = 0


class SweepResult(NamedTuple):
    """The conversations that had expired and were destroyed, and a problem for the user."""

    destroyed: tuple[str, ...] = ()
    problem: str = ""


class InboxMessage(NamedTuple):
    """A message from one conversation to another; the store sets `id` and `timestamp`."""

    sender: str
    to: str
    content: str
    id: str = ""
    timestamp: int = 0


class InboxContents(NamedTuple):
    """The messages of an inbox, oldest first, each with an id; `problem` is a note for the user."""

    messages: tuple[InboxMessage, ...]
    problem: str = ""


class CurrentConversation(NamedTuple):
    """The conversation that is used if none is named, and the one before it."""

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


DEFAULT_STORAGE = StorageSettings()


class ConversationHit(NamedTuple):
    """An entry found by a search, and the name of its conversation."""

    conversation: str
    entry: Entry


class ConversationLocked(Unavailable):
    """Another process holds the conversation; `holder` is None if it is unknown."""

    def __init__(self, message: str, holder: LeaseHolder | None) -> None:
        super().__init__(message)
        self.holder = holder


class SequenceConflict(BadInput):
    """The transcript has grown since the caller read it; `sequence` is its last number."""

    def __init__(self, message: str, sequence: int) -> None:
        super().__init__(message)
        self.sequence = sequence


class ConversationArchived(Refused):
    """An archived conversation is read-only; `name` is its name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the conversation '{name}' is archived; restore it first")
        self.name = name


class Conflict(BadInput):
    """A conversation of that name exists."""


class Corrupt(Unavailable):
    """A file is damaged and cannot be rebuilt from others."""
