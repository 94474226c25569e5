"""Ports to the conversations of a home: the directory, access to one of them, lifetimes, inboxes, the current one.

`key` is a name or an id. Every method that takes a key raises BadInput if it cannot be a name, before it changes
anything, and NotFound if there is no such conversation. Every method raises Unavailable if the store does not answer.
What changes a conversation needs its lease: it raises ConversationLocked while another process or thread has it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

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
from marid.ports.transcript import Conversation, ConversationReader


class ConversationDirectory(Protocol):
    """Which conversations exist, and their names."""

    def list(self, owner: str = "", *, after: str = "", limit: int = 0) -> tuple[ConversationMeta, ...]:
        """A page of the owner's conversations, ordered by name: those whose name is greater than `after`, at most
        `limit` (0: all). The name of the last item is the cursor of the next page; an empty page is the end.

        A conversation that cannot be read is listed by its name alone, under the owner "".
        """
        ...

    def get_meta(self, key: str) -> ConversationMeta:
        """The metadata of one conversation; `id` is empty if another program made it and it was never opened here."""
        ...

    def resolve_name(self, key: str) -> str:
        """The name of the conversation; `key` itself if there is none, since one may be created under it."""
        ...

    def create(self, name: str = "", *, source: str = "CLI", title: str = "", owner: str = "") -> ConversationMeta:
        """Create a conversation, named by its id if `name` is empty. On return it is on the disk.

        Raises: Conflict if the name is the name or the id of another one.
        """
        ...

    def rename(self, key: str, name: str) -> ConversationMeta:
        """Change the name and nothing else. Raises: Conflict if it is the name or the id of another one."""
        ...

    def archive(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, archived: bool = True
    ) -> ConversationMeta:
        """Make the conversation read-only, or writable again."""
        ...

    def destroy(self, key: str) -> None:
        """Remove the conversation with everything that belongs to it. A terminal that had it as the current one goes
        back to the previous one.
        """
        ...


class ConversationAccess(Protocol):
    """Reading, opening and watching single conversations, and searching all of them."""

    def read(self, key: str) -> ConversationReader:
        """Read without the lease, also while another process writes."""
        ...

    def open(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, wait: float = 0.0, create: bool = False
    ) -> Conversation:
        """Take the lease and repair what a crash has left. `create` creates a conversation that does not exist.

        Raises: ConversationLocked, with the holder, if the lease is not free within `wait` seconds.
        """
        ...

    def holder(self, key: str) -> LeaseHolder | None:
        """The present holder of the lease."""
        ...

    def search(
        self, query: str, *, whole: bool = False, on_problem: Callable[[str], None] = lambda _problem: None
    ) -> Iterator[ConversationHit]:
        """`Transcript.search` over all conversations. `on_problem` gets the problems of each, also of one that cannot
        be read.
        """
        ...

    def subscribe(self, key: str, wake: Callable[[], object]) -> Callable[[], None]:
        """Call `wake` now, and whenever the conversation may have new entries or is renamed or destroyed; calling the
        returned function ends that.

        All subscribers share one thread, which runs `wake`: it must not block, and is dropped if it raises. It may be
        called without need, and once for many entries: read `entries(after=...)` to learn what is new.
        """
        ...


class Conversations(ConversationDirectory, ConversationAccess, Protocol):
    """Both, for code that finds conversations and works in them. Ask for the smaller port where it is enough."""


class ConversationFiles(Protocol):
    """Where a person finds the files of a conversation. `name` is a name, not an id; nothing has to exist."""

    def settings_folder(self, name: str) -> str:
        """The folder of its settings files. Raises: BadInput."""
        ...

    def log_file(self, name: str, file: str) -> str:
        """The path of one of its log files. Raises: BadInput."""
        ...


class ConversationLifetimes(Protocol):
    """When conversations are destroyed without a command."""

    def expiry(self, key: str) -> Expiry:
        """The expiry of this conversation."""
        ...

    def set_expiry(self, key: str, expiry: Expiry) -> None:
        """Replace the expiry. Inactivity counts from now."""
        ...

    def sweep(self) -> SweepResult:
        """Destroy the expired conversations that no process holds, and remove what crashes have left."""
        ...


class TerminalSession(Protocol):
    """The current conversation of the terminal; it need not exist yet. Raises Corrupt if its file cannot be read."""

    def current(self) -> CurrentConversation:
        """The current and the previous conversation."""
        ...

    def switch(self, name: str) -> CurrentConversation:
        """Make this one current. Switching to the current one keeps the previous one. Raises: BadInput."""
        ...

    def leave(self, name: str) -> CurrentConversation:
        """Leave this one: the previous conversation becomes current if it exists, else the default."""
        ...


class Inbox(Protocol):
    """Messages between conversations. Needs no lease, so that a busy conversation can get messages."""

    def send(self, message: InboxMessage) -> InboxMessage:
        """Store the message for `to`, a key, which is created if it does not exist; return it with the name as `to`.

        Raises: BadInput if it is too long.
        """
        ...

    def peek(self, name: str) -> tuple[InboxMessage, ...]:
        """The messages, oldest first, without a change: one that another program wrote may have no id."""
        ...

    def collect(self, name: str) -> InboxContents:
        """The messages, to be stored elsewhere: one without an id gets one and keeps it."""
        ...

    def remove(self, name: str, messages: Sequence[InboxMessage]) -> None:
        """Remove these messages, and none that have arrived since they were collected."""
        ...


class ConversationStores(NamedTuple):
    """The store of a home, one object for each port; made once per process."""

    conversations: Conversations
    lifetimes: ConversationLifetimes
    session: TerminalSession
    inbox: Inbox
    files: ConversationFiles
