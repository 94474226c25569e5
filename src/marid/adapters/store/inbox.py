"""Messages for a conversation, in its `inbox.jsonl`; sending needs no lease."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from marid.adapters.store.append_log import AppendLog
from marid.adapters.store.files import disk_errors, file_lock, is_time, parse_object, read_bytes, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import new_id
from marid.core.conversation.records import InboxContents, InboxMessage
from marid.core.errors import BadInput, NotFound
from marid.text.display import quote_path

MAX_MESSAGE_CHARACTERS = 1_000_000


class FileInbox:
    """The port Inbox. `find` locates a conversation by name or id, `find_or_create` creates it if it does not exist."""

    def __init__(
        self,
        find: Callable[[str], ConversationPaths],
        find_or_create: Callable[[str], ConversationPaths],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._find, self._find_or_create = find, find_or_create
        self._clock = clock

    def send(self, message: InboxMessage) -> InboxMessage:
        if len(message.content) > MAX_MESSAGE_CHARACTERS:
            limit = f"a message has at most {MAX_MESSAGE_CHARACTERS:,} characters"
            raise BadInput(f"{limit}; put more into a file and name it")
        whole = message._replace(id=message.id or new_id(), timestamp=message.timestamp or int(self._clock()))
        with disk_errors(f"writing to the inbox of '{message.to}'"):
            paths = self._find_or_create(message.to)
            whole = whole._replace(to=paths.name)
            fields = {"id": whole.id, "timestamp": whole.timestamp, "from": whole.sender, "to": whole.to}
            line = _encode({**fields, "content": whole.content}) + b"\n"
            with file_lock(paths.file(".inbox.lock")), closing(AppendLog(paths.inbox)) as log:
                log.append(line)
        return whole

    def peek(self, name: str) -> tuple[InboxMessage, ...]:
        return _messages(self._read(name))

    def collect(self, name: str) -> InboxContents:
        lines = self._read(name)
        if not all(message.id for message in _messages(lines)):
            lines = self._rewrite_lines(name, lambda lines: [_with_id(line) for line in lines])
        messages = _messages(lines)
        unreadable = len(lines) - len(messages)
        if not unreadable:
            return InboxContents(messages)
        with disk_errors(f"reading the inbox of '{name}'"):
            file = quote_path(self._find(name).inbox)
        ignored = "a line that is not a message" if unreadable == 1 else f"{unreadable} lines that are not messages"
        return InboxContents(messages, f"'{file}' has {ignored}, ignored and kept")

    def remove(self, name: str, messages: Sequence[InboxMessage]) -> None:
        """Unreadable lines stay."""
        gone = set(messages)
        self._rewrite_lines(name, lambda lines: [line for line in lines if _decode_message(line) not in gone])

    def _read(self, name: str) -> list[bytes]:
        with disk_errors(f"reading the inbox of '{name}'"):
            try:
                return _read_lines(self._find(name))
            except NotFound:
                return []

    def _rewrite_lines(self, name: str, change: Callable[[list[bytes]], list[bytes]]) -> list[bytes]:
        with disk_errors(f"writing the inbox of '{name}'"):
            paths = self._find(name)
            with file_lock(paths.file(".inbox.lock")):
                lines = change(_read_lines(paths))
                write_atomic(paths.inbox, b"".join(line + b"\n" for line in lines))
        return lines


def _read_lines(paths: ConversationPaths) -> list[bytes]:
    """The lines that are not blank. Raises: OSError."""
    return [line for line in (read_bytes(paths.inbox) or b"").split(b"\n") if line.strip()]


def _messages(lines: Sequence[bytes]) -> tuple[InboxMessage, ...]:
    return tuple(message for line in lines if (message := _decode_message(line)) is not None)


def _decode_message(line: bytes) -> InboxMessage | None:
    found = parse_object(line)
    if found is None or not isinstance(content := found.get("content"), str):
        return None
    when, key = found.get("timestamp"), found.get("id")
    key = str(key) if isinstance(key, str | int) and not isinstance(key, bool) else ""
    sender, to = str(found.get("from", "")), str(found.get("to", ""))
    return InboxMessage(sender, to, content, key, when if is_time(when) else 0)


def _with_id(line: bytes) -> bytes:
    """Give the message of another program an id: without one it may be read twice."""
    message = _decode_message(line)
    if message is None or message.id:
        return line
    return _encode({**(parse_object(line) or {}), "id": new_id()})


def _encode(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()
