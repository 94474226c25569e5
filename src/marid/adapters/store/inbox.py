"""Messages that wait for a conversation, in its `inbox.jsonl`; whoever is busy there is not disturbed."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from marid.adapters.store.files import as_object, locked, read_bytes, told, write_whole
from marid.adapters.store.journal import Journal
from marid.adapters.store.layout import Place
from marid.adapters.store.meta import is_time
from marid.core.conversation import Message, Post
from marid.core.errors import BadInput, NotFound
from marid.core.ids import new_id
from marid.text.names import check_name
from marid.text.visible import shown_path

MOST_CHARACTERS = 1_000_000
_FILE = "inbox.jsonl"


class Finder(Protocol):
    """Where the conversation of a name or an id is. Raises: BadInput; NotFound; OSError."""

    def __call__(self, key: str, *, create: bool) -> Place: ...


class FileInbox:
    """As in the port. `find` tells where a conversation is, and makes the one that a message goes to if it must."""

    def __init__(self, find: Finder, clock: Callable[[], float] = time.time) -> None:
        self._find = find
        self._clock = clock

    def send(self, message: Message) -> Message:
        """As in the port."""
        check_name(message.to)
        if len(message.content) > MOST_CHARACTERS:
            raise BadInput(f"a message has at most {MOST_CHARACTERS:,} characters; put more into a file and name it")
        whole = message._replace(id=message.id or new_id(), timestamp=message.timestamp or int(self._clock()))
        with told(f"writing to the inbox of '{message.to}'"):
            place = self._find(message.to, create=True)
            whole = whole._replace(to=place.name)
            with locked(place.file(".inbox.lock")):
                journal = Journal(place.file(_FILE))
                try:
                    journal.append(_line(whole))
                finally:
                    journal.close()
        return whole

    def peek(self, name: str) -> tuple[Message, ...]:
        """As in the port."""
        return _messages(self._read(name))

    def collect(self, name: str) -> Post:
        """As in the port."""
        lines = self._read(name)
        if not all(message.id for message in _messages(lines)):
            lines = self._change(name, lambda lines: [_named(line) for line in lines])
        messages = _messages(lines)
        return Post(messages, self._problem(name, len(lines) - len(messages)))

    def remove(self, name: str, messages: Sequence[Message]) -> None:
        """As in the port; lines that cannot be read stay."""
        gone = set(messages)
        self._change(name, lambda lines: [line for line in lines if _message(line) not in gone])

    def _problem(self, name: str, strange: int) -> str:
        if not strange:
            return ""
        with told(f"reading the inbox of '{name}'"):
            file = self._find(name, create=False).file(_FILE)
        lines = "a line that is no message" if strange == 1 else f"{strange} lines that are no messages"
        return f"'{shown_path(file)}' has {lines}: nobody is told what it says, and it stays there"

    def _read(self, name: str) -> list[bytes]:
        with told(f"reading the inbox of '{check_name(name)}'"):
            try:
                return _lines(self._find(name, create=False))
            except NotFound:
                return []

    def _change(self, name: str, change: Callable[[list[bytes]], list[bytes]]) -> list[bytes]:
        with told(f"writing the inbox of '{check_name(name)}'"):
            place = self._find(name, create=False)
            with locked(place.file(".inbox.lock")):
                lines = change(_lines(place))
                write_whole(place.file(_FILE), b"".join(line + b"\n" for line in lines))
        return lines


def _lines(place: Place) -> list[bytes]:
    """Those that hold anything. Raises: OSError."""
    return [line for line in (read_bytes(place.file(_FILE)) or b"").split(b"\n") if line.strip()]


def _line(message: Message) -> bytes:
    import json

    whole = {"id": message.id, "timestamp": message.timestamp, "from": message.sender, "to": message.to}
    return json.dumps({**whole, "content": message.content}, separators=(",", ":")).encode() + b"\n"


def _messages(lines: Sequence[bytes]) -> tuple[Message, ...]:
    return tuple(message for line in lines if (message := _message(line)) is not None)


def _message(line: bytes) -> Message | None:
    found = as_object(line)
    if found is None or not isinstance(content := found.get("content"), str):
        return None
    when = found.get("timestamp")
    return Message(
        sender=str(found.get("from", "")),
        to=str(found.get("to", "")),
        content=content,
        id=_id(found.get("id")),
        timestamp=when if is_time(when) else 0,
    )


def _id(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _named(line: bytes) -> bytes:
    """A message that somebody else has put there without an id, with one: else nobody knows whether it was read."""
    import json

    message = _message(line)
    if message is None or message.id:
        return line
    return json.dumps({**(as_object(line) or {}), "id": new_id()}, separators=(",", ":")).encode()
