"""What older programs have left in a conversation's folder, as it can be read before anybody has taken it over."""

import os
from typing import cast

from marid.adapters.store import meta
from marid.adapters.store.append_log import complete_lines
from marid.adapters.store.atomic_files import parse_object, read_bytes
from marid.adapters.store.entry_lines import encode_line, parse_lines
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.meta import is_time
from marid.core.conversation.entry import AGENT, ANCHORS, MESSAGE, NEVER_IN_WINDOW, SYSTEM, USER, Entry

LEGACY_TRANSCRIPT = "transcript.jsonl"
LEGACY_MESSAGES = "context.json"
# A first entry of old windows, made from the system prompt and never part of the conversation.
_NEVER_ADOPTED = ANCHORS | NEVER_IN_WINDOW | {"system_prompt"}


def with_legacy_lines(paths: ConversationPaths, active: bytes) -> bytes:
    """The lines of the only partition, with those that taking the conversation over will bring. Raises: OSError."""
    if meta.load(paths).id:
        return active
    old = legacy_transcript(paths)
    if old and not active.startswith(old):
        active = old + active
    return active or _read_complete_lines(paths.window) or b"".join(map(encode_line, legacy_messages(paths)))


def legacy_transcript(paths: ConversationPaths) -> bytes:
    """The lines of a transcript that was one file, those that are whole. Raises: OSError."""
    strayed = b"" if os.path.exists(paths.active) else _read_complete_lines(paths.transcript_file("context.jsonl"))
    return _read_complete_lines(paths.file(LEGACY_TRANSCRIPT)) + strayed


def legacy_window(paths: ConversationPaths) -> list[Entry] | None:
    """The window that another program has left, or None when there is none to be trusted. Raises: OSError."""
    data = read_bytes(paths.window)
    if data is None or os.path.exists(paths.file(".dirty")):
        return None
    there = (line for line in parse_lines(data) if line.entry.entry_type not in _NEVER_ADOPTED)
    # Made of what is there, so that who is interrupted makes the same again.
    return [
        line.entry if line.entry.id else line.entry._replace(id=_derive_id(number, line.entry.content))
        for number, line in enumerate(there)
    ]


def is_window_prefix(window: list[Entry] | None, own: list[Entry]) -> bool:
    """Whether the window of our own making begins with all that the window of another program has."""
    ids = [entry.id for entry in own if entry.entry_type not in ANCHORS]
    return not window or [entry.id for entry in window] == ids[: len(window)]


def legacy_messages(paths: ConversationPaths) -> list[Entry]:
    """The messages of a `context.json`. Raises: OSError."""
    found = parse_object(read_bytes(paths.file(LEGACY_MESSAGES)) or b"") or {}
    messages = found.get("messages")
    when = found.get("updated_at") or found.get("created_at")
    time_ms = when * 1000 if type(when) is int else 0
    made: list[Entry] = []
    for number, message in enumerate(cast("list[object]", messages) if isinstance(messages, list) else []):
        if isinstance(message, dict):
            made.append(_legacy_entry(paths.name, number, cast("dict[str, object]", message))._replace(time_ms=time_ms))
    return [entry for entry in made if entry.role in (USER, AGENT)]


def legacy_created_at(paths: ConversationPaths) -> int:
    """When a `context.json` says that it was made, in seconds, else 0. Raises: OSError."""
    made = (parse_object(read_bytes(paths.file(LEGACY_MESSAGES)) or b"") or {}).get("created_at")
    return made if is_time(made) else 0


def _read_complete_lines(path: str) -> bytes:
    return complete_lines(read_bytes(path) or b"")


def _derive_id(number: int, text: str) -> str:
    import zlib

    return f"old-{number}-{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def _legacy_entry(name: str, number: int, fields: dict[str, object]) -> Entry:
    content, key, role = (fields.get(field) for field in ("content", "id", "role"))
    text = content if isinstance(content, str) else ""
    speaks = {"user": USER, "assistant": AGENT}.get(role if isinstance(role, str) else "", SYSTEM)
    sender, to = (name, USER) if speaks == AGENT else (USER, name)
    return Entry(
        entry_type=MESSAGE,
        content=text,
        sender=sender,
        to=to,
        role=speaks,
        id=key if isinstance(key, str) and key else _derive_id(number, text),
    )
