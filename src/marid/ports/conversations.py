"""All conversations of a home: found by name or id, made, renamed, put away, destroyed, opened."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from marid.core.conversation.records import (
    DEFAULT_STORAGE,
    ConversationHit,
    ConversationMeta,
    CurrentConversation,
    Expiry,
    InboxContents,
    InboxMessage,
    LeaseHolder,
    StorageSettings,
    SweepResult,
)
from marid.ports.transcript import Conversation, Transcript


class Conversations(Protocol):
    """`key` is a name or an id; a name that cannot be one raises BadInput before anything is made.

    All methods raise Unavailable when the store does not answer, and NotFound when there is no such conversation.
    What changes a conversation needs its lease and raises Held while somebody else has it.
    """

    def list(self) -> tuple[ConversationMeta, ...]:
        """All of them, by name; one that cannot be read has no more than its name."""
        ...

    def get_meta(self, key: str) -> ConversationMeta:
        """What is known of one; that of another program has no id before it was first opened."""
        ...

    def resolve_name(self, key: str) -> str:
        """What the one of that name or id is called; where there is none, the key itself, as one may be made of it."""
        ...

    def create(self, name: str = "", *, source: str = "CLI", title: str = "") -> ConversationMeta:
        """A new one, named by its id without a name. Raises: Conflict when there is one of that name or id."""
        ...

    def open(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, wait: float = 0.0, create: bool = False
    ) -> Conversation:
        """Hold it and make it whole; with `create`, a name that is not there is made. `storage` holds while it is open.

        Raises: Held, which names the holder, when it is not free within `wait` seconds.
        """
        ...

    def read(self, key: str) -> Transcript:
        """Read it, whoever holds it."""
        ...

    def rename(self, key: str, name: str) -> ConversationMeta:
        """Give it another name; all else stays. Raises: Conflict when there is another of that name or id."""
        ...

    def archive(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, archived: bool = True
    ) -> ConversationMeta:
        """Put the conversation away, so that nothing can be appended, or bring it back."""
        ...

    def destroy(self, key: str) -> None:
        """Remove it and all that belongs to it; a terminal that meant it means the one before, else the default."""
        ...

    def holder(self, key: str) -> LeaseHolder | None:
        """Who holds it now."""
        ...

    def search(
        self, query: str, *, whole: bool = False, on_problem: Callable[[str], None] = lambda _problem: None
    ) -> Iterator[ConversationHit]:
        """As Transcript.search, over all conversations; `tell` hears of the problems of each, also of one that cannot
        be read.
        """
        ...


class ConversationLifetimes(Protocol):
    """When conversations end by themselves. Raises as Conversations does."""

    def expiry(self, key: str) -> Expiry:
        """When this one ends."""
        ...

    def set_expiry(self, key: str, expiry: Expiry) -> None:
        """Let it end then."""
        ...

    def sweep(self) -> SweepResult:
        """Destroy those whose time has come and which nobody holds. Leftovers of crashes go as well."""
        ...


class TerminalSession(Protocol):
    """Which conversation a terminal means, also one that is yet to be made. Raises Corrupt when that was written and
    cannot be read.
    """

    def current(self) -> CurrentConversation:
        """The implied one and the one before."""
        ...

    def switch(self, name: str) -> CurrentConversation:
        """Mean another one from now on; switching to the same one keeps the previous. Raises: BadInput."""
        ...

    def leave(self, name: str) -> CurrentConversation:
        """Mean this one no more: the one before it, if that is there, else the default."""
        ...


class Inbox(Protocol):
    """Messages from one conversation to another, by name or id. Raises BadInput for what cannot be one, Unavailable."""

    def send(self, message: InboxMessage) -> InboxMessage:
        """Put it into the inbox of `to`, which is made if it is not there; `to` is its name in what is returned."""
        ...

    def peek(self, name: str) -> tuple[InboxMessage, ...]:
        """What waits, oldest first; nothing is changed, so one that somebody else has put there may have no id."""
        ...

    def collect(self, name: str) -> InboxContents:
        """What waits, to be stored elsewhere: whatever has no id gets one, which it keeps."""
        ...

    def remove(self, name: str, messages: Sequence[InboxMessage]) -> None:
        """Take out what was collected, once it is stored elsewhere; nothing else goes, whatever has come since."""
        ...
