"""Messages that wait for a conversation, in its `inbox.jsonl`; whoever is busy there is not disturbed."""

import time
from collections.abc import Callable, Sequence

from marid.adapters.store.files import as_object, locked, read_bytes, told, write_whole
from marid.adapters.store.journal import Journal
from marid.adapters.store.layout import Layout
from marid.core.conversation import Message
from marid.core.errors import BadInput, NotFound
from marid.core.ids import new_id
from marid.text.names import check_name

MOST_BYTES = 1_000_000


class FileInbox:
    """As in the port. `make` makes the conversation that a message goes to."""

    def __init__(self, layout: Layout, make: Callable[[str], object], clock: Callable[[], float] = time.time) -> None:
        self._layout = layout
        self._make = make
        self._clock = clock

    def send(self, message: Message) -> Message:
        """As in the port."""
        check_name(message.to)
        if len(message.content) > MOST_BYTES:
            raise BadInput(f"a message has at most {MOST_BYTES} characters; put more into a file and name it")
        whole = message._replace(id=message.id or new_id(), timestamp=message.timestamp or int(self._clock()))
        with told(f"writing to the inbox of '{message.to}'"):
            try:
                place = self._layout.found(message.to)
            except NotFound:
                self._make(message.to)
                place = self._layout.found(message.to)
            with locked(place.file(".inbox.lock")):
                journal = Journal(place.file("inbox.jsonl"))
                try:
                    journal.append(_line(whole))
                finally:
                    journal.close()
        return whole

    def peek(self, name: str) -> tuple[Message, ...]:
        """As in the port."""
        with told(f"reading the inbox of '{check_name(name)}'"):
            data = read_bytes(self._layout.place(name).file("inbox.jsonl")) or b""
        return tuple(message for line in data.split(b"\n") if (message := _message(line)) is not None)

    def remove(self, name: str, keys: Sequence[str]) -> None:
        """As in the port; lines that cannot be read stay."""
        gone = set(keys)
        with told(f"writing the inbox of '{check_name(name)}'"):
            place = self._layout.found(name)
            with locked(place.file(".inbox.lock")):
                data = read_bytes(place.file("inbox.jsonl")) or b""
                rest = [line for line in data.split(b"\n") if line.strip() and _key(line) not in gone]
                write_whole(place.file("inbox.jsonl"), b"".join(line + b"\n" for line in rest))


def _line(message: Message) -> bytes:
    import json

    whole = {"id": message.id, "timestamp": message.timestamp, "from": message.sender, "to": message.to}
    return json.dumps({**whole, "content": message.content}, separators=(",", ":")).encode() + b"\n"


def _message(line: bytes) -> Message | None:
    found = as_object(line)
    if found is None or not isinstance(content := found.get("content"), str):
        return None
    when = found.get("timestamp")
    return Message(
        sender=str(found.get("from", "")),
        to=str(found.get("to", "")),
        content=content,
        id=str(found.get("id", "")),
        timestamp=when if type(when) is int else 0,
    )


def _key(line: bytes) -> str | None:
    found = _message(line)
    return found.id if found else None
