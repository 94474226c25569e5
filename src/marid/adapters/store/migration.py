"""What older programs have left in a conversation's folder, brought into the transcript; nothing is thrown away.

Every step may be interrupted and done again.
"""

import os
from typing import TYPE_CHECKING, cast

from marid.adapters.store import manifest, partitions
from marid.adapters.store.entries import lines
from marid.adapters.store.files import as_object, make_folder, read_bytes, remove, sync_folder, write_whole
from marid.adapters.store.history import KEPT
from marid.adapters.store.layout import Place
from marid.core.conversation import Storage
from marid.core.entry import AGENT, ANCHORS, COMPACTION, MESSAGE, NEVER_IN_WINDOW, SYSTEM, USER, Entry

if TYPE_CHECKING:
    from marid.adapters.store.conversation import StoredConversation

# A first entry of old windows, made from the system prompt and never part of the conversation.
_NEVER_ADOPTED = ANCHORS | NEVER_IN_WINDOW | {"system_prompt"}


def move_old_transcript(place: Place, storage: Storage) -> None:
    """Bring `transcript.jsonl` below `transcript/`; the file itself stays as a backup. Raises: OSError."""
    strayed = place.transcript("context.jsonl")
    if os.path.exists(strayed) and not os.path.exists(place.active):
        os.rename(strayed, place.active)
    old = place.file("transcript.jsonl")
    data = read_bytes(old)
    if data is None:
        return
    if data and not data.endswith(b"\n"):
        data += b"\n"
    active = read_bytes(place.active) or b""
    if not active.startswith(data):
        if active or manifest.stamp_of(place):
            _put_before(place, storage, data)
        else:
            write_whole(place.active, data)
    put_away(old)


def put_away(path: str) -> None:
    """Give the file a name that nobody reads. Raises: OSError."""
    number, backup = 1, f"{path}.bak"
    while os.path.lexists(backup):
        number += 1
        backup = f"{path}.bak{number}"
    os.rename(path, backup)
    sync_folder(os.path.dirname(path))


def old_window(place: Place) -> list[Entry] | None:
    """The window that another program has left, or None when there is none to be trusted. Raises: OSError."""
    data = read_bytes(place.window)
    if data is None or os.path.exists(place.file(".dirty")):
        return None
    return [line.entry for line in lines(data) if line.entry.entry_type not in _NEVER_ADOPTED]


def old_messages(place: Place) -> list[Entry]:
    """The messages of a `context.json`. Raises: OSError."""
    found = as_object(read_bytes(place.file("context.json")) or b"") or {}
    messages = found.get("messages")
    when = found.get("updated_at") or found.get("created_at")
    time_ms = when * 1000 if type(when) is int else 0
    made: list[Entry] = []
    for number, message in enumerate(cast("list[object]", messages) if isinstance(messages, list) else []):
        if isinstance(message, dict):
            made.append(_message(place.name, number, cast("dict[str, object]", message))._replace(time_ms=time_ms))
    return [entry for entry in made if entry.role in (USER, AGENT)]


def adopt(conversation: "StoredConversation", place: Place, window: list[Entry] | None) -> None:
    """Take over a conversation that another program has made: what only its window or its old file has is appended."""
    messages = [entry for entry in old_messages(place) if conversation.find(entry.id) is None]
    if messages:
        conversation.append(messages)
    if os.path.exists(place.file("context.json")):
        put_away(place.file("context.json"))
    own = [entry.id for entry in conversation.window() if entry.entry_type not in ANCHORS]
    if not window or [entry.id for entry in window] == own[: len(window)]:
        return
    kept: list[str] = []
    for entry in window:
        known = conversation.find(entry.id) if entry.id else None
        kept.append((known or conversation.append([entry])[0]).id)
    anchor = Entry(entry_type=COMPACTION, content="window adopted", sender=SYSTEM, to=place.name, role=SYSTEM)
    conversation.append([anchor._replace(metadata={KEPT: kept})])


def _put_before(place: Place, storage: Storage, data: bytes) -> None:
    """As the oldest partition; the manifest is made anew, by what the entries say."""
    seen = partitions.examine("", data, 0, storage._replace(enable_bloom_filters=False))
    if seen.row is None:
        return
    make_folder(place.partitions)
    name = f"partitions/{seen.row['start_ts']}-{seen.row['end_ts']}-old.jsonl"
    if read_bytes(place.transcript(name)) != data:
        write_whole(place.transcript(name), data)
    remove(place.transcript(manifest.FILE))


def _message(name: str, number: int, fields: dict[str, object]) -> Entry:
    import zlib

    content, key, role = (fields.get(field) for field in ("content", "id", "role"))
    text = content if isinstance(content, str) else ""
    made = f"old-{number}-{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"
    speaks = {"user": USER, "assistant": AGENT}.get(role if isinstance(role, str) else "", SYSTEM)
    sender, to = (name, USER) if speaks == AGENT else (USER, name)
    return Entry(
        entry_type=MESSAGE,
        content=text,
        sender=sender,
        to=to,
        role=speaks,
        id=key if isinstance(key, str) and key else made,
    )
