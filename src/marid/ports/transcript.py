"""A conversation's entries: read by anyone at any time, appended by the one who holds the lease."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, Self

from marid.core.conversation.entry import Entry
from marid.core.conversation.records import ConversationMeta


class Transcript(Protocol):
    """Reading needs no lease and sees whole entries only. All methods raise Unavailable when the store does not answer,
    and NotFound when the conversation is there no more.

    A sequence number is a cursor: it holds in every process and after every restart.
    """

    def meta(self) -> ConversationMeta:
        """What is known of the conversation now."""
        ...

    def sequence(self) -> int:
        """The number of the last entry, 0 without any."""
        ...

    def window(self) -> tuple[Entry, ...]:
        """The last anchor, the entries that it kept, and those after it: what a model is sent is made of these."""
        ...

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        """All entries beyond the cursor in their order, or those of some types, read as they are asked for."""
        ...

    def find(self, key: str) -> Entry | None:
        """The entry of that id."""
        ...

    def follow(self, after: int, wait: float = 0.0) -> tuple[Entry, ...]:
        """The entries beyond the cursor; when there are none, wait so many seconds for the first."""
        ...

    def search(self, query: str, *, whole_words: bool = False) -> Iterator[Entry]:
        """Entries whose content has every word of the query, as parts of words or as whole words; any case."""
        ...

    def read_note(self, name: str) -> str:
        """One of NOTES, empty when it was never written. Raises: BadInput when there is no such note."""
        ...

    def problems(self) -> tuple[str, ...]:
        """What a person should know: lines that cannot be read, as every opening tells them or as they were met by what
        was read here, repairs that were made.
        """
        ...


class Conversation(Transcript, Protocol):
    """An open conversation, held by a lease. Any thread may call; every writing method checks the lease first.

    All writing methods raise Unavailable when the disk refuses or the lease is lost (nothing is stored then), and
    Refused when the conversation is archived.
    """

    def fencing_token(self) -> int:
        """The lease's fencing token: larger than that of every earlier holder."""
        ...

    def append(self, entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        """Store all of the entries or none, after whatever is there; what is returned is on the disk.

        Raises: Moved when the last sequence number is not `expected`; BadInput when an entry is no JSON.
        """
        ...

    def add_anchor(self, anchor: Entry, kept: Sequence[str] = ()) -> Entry:
        """Begin the window anew with an anchor, followed by the entries of the window with these ids, in that order.

        Raises: BadInput when the type is none of ANCHORS, or an id is not in the window.
        """
        ...

    def clear(self) -> Entry | None:
        """Archive the history: an `archival` anchor that keeps nothing; None when there is nothing to archive."""
        ...

    def update_meta(self, update: Callable[[ConversationMeta], ConversationMeta]) -> ConversationMeta:
        """Replace what is known of the conversation; its id, name and the fields of others stay."""
        ...

    def write_note(self, name: str, text: str) -> None:
        """Replace one of NOTES as a whole; an empty text removes it. Raises: BadInput when there is no such note."""
        ...

    def close(self) -> None:
        """Give the lease back; closing twice is no error, and everything else after it raises Unavailable."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...
