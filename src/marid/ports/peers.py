"""Port for the tools that read other conversations and send messages to them."""

from typing import NamedTuple, Protocol


class PeerEntry(NamedTuple):
    """One entry of another conversation's window."""

    sender: str
    content: str
    type: str


class Peer(NamedTuple):
    """Another conversation as a tool shows it; `messages` is the number in its window."""

    name: str
    summary: str
    todos: str
    goals: str
    messages: int
    recent: tuple[PeerEntry, ...]


class Peers(Protocol):
    """The conversations of the same home. Raises BadInput for an invalid name, NotFound, Unavailable."""

    def get_peer(self, name: str, messages: int) -> Peer:
        """One conversation with its last messages."""
        ...

    def send(self, to: str, content: str, sender: str = "") -> None:
        """Send a message to `to`, which is created if needed; `sender` is the caller by default."""
        ...
