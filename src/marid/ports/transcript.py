"""Ports to one conversation: its transcript, read by anyone at any time, and written by the holder of the lease."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, Self

from marid.core.conversation.entry import Entry
from marid.core.conversation.records import ConversationMeta


class Transcript(Protocol):
    """The entries of a conversation. Reading needs no lease and sees whole entries only.

    A sequence number is a cursor: it holds in every process and after every restart. All methods raise Unavailable if
    the store does not answer, and NotFound if the conversation was renamed or destroyed.
    """

    def meta(self) -> ConversationMeta:
        """The metadata as it is now."""
        ...

    def sequence(self) -> int:
        """The number of the last entry, 0 without any."""
        ...

    def window(self) -> tuple[Entry, ...]:
        """The last anchor, the entries that it kept, and those after it: the model's history is made of these."""
        ...

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        """The entries beyond the cursor in order, of these types or of all, read as they are consumed."""
        ...

    def find(self, key: str) -> Entry | None:
        """The entry with that id."""
        ...

    def search(self, query: str, *, whole_words: bool = False) -> Iterator[Entry]:
        """Entries whose content has every word of the query, as parts of words or as whole words; case is ignored."""
        ...

    def problems(self) -> tuple[str, ...]:
        """Notes for the user: unreadable lines that an opening or a read through this object met, repairs made."""
        ...


class NoteReader(Protocol):
    """The notes of a conversation."""

    def read_note(self, name: str) -> str:
        """One of NOTES, empty if it was never written. Raises: BadInput for another name; otherwise as Transcript."""
        ...


class ConversationReader(Transcript, NoteReader, Protocol):
    """A conversation that is read."""


class ConversationWriter(Protocol):
    """Writing under the lease. Any thread may call; every method checks the lease first.

    All methods raise Unavailable, and store nothing, if the disk refuses or the lease is lost. All but `update_meta`,
    `fencing_token` and `close` raise Refused if the conversation is archived.
    """

    def append(self, entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        """Store all of the entries or none, after the present ones. On return they are on the disk.

        Raises: SequenceConflict if the last sequence number is not `expected`; BadInput if an entry is not JSON.
        """
        ...

    def add_anchor(self, anchor: Entry, kept: Sequence[str] = ()) -> Entry:
        """Start a new window with an anchor, followed by the entries of the old window with these ids, in that order.

        Raises: BadInput if the type is not one of ANCHORS, or an id is not in the window.
        """
        ...

    def clear(self) -> Entry | None:
        """Archive the history: an `archival` anchor that keeps nothing. None if the window holds only anchors."""
        ...

    def update_meta(self, update: Callable[[ConversationMeta], ConversationMeta]) -> ConversationMeta:
        """Replace the metadata; id, name and the fields of other programs stay."""
        ...

    def write_note(self, name: str, text: str) -> None:
        """Replace one of NOTES; an empty text removes it. Raises: BadInput for another name."""
        ...

    def fencing_token(self) -> int:
        """The lease's fencing token: larger than that of every earlier holder."""
        ...

    def close(self) -> None:
        """Release the lease. A second call does nothing; every other method then raises Unavailable."""
        ...


class Conversation(ConversationReader, ConversationWriter, Protocol):
    """An open conversation: read and written by the holder of its lease, closed at the end of a `with` block."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...
