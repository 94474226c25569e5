"""Other conversations, for the tools that look into them and write to them."""

from typing import NamedTuple, Protocol


class PeerEntry(NamedTuple):
    """One entry of another conversation's window."""

    sender: str
    content: str
    type: str


class Peer(NamedTuple):
    """Another conversation as a tool shows it; `messages` is how many its window holds."""

    name: str
    summary: str
    todos: str
    goals: str
    messages: int
    recent: tuple[PeerEntry, ...]


class Peers(Protocol):
    """The conversations of the same home. Raises BadInput for what cannot be a name, NotFound, Unavailable."""

    def get_peer(self, name: str, messages: int) -> Peer:
        """One of them, with its last messages."""
        ...

    def send(self, to: str, content: str, sender: str = "") -> None:
        """Put a message into the inbox of `to`, which is made if it is not there; `sender` is the caller by default."""
        ...
