"""Files of older programs in a conversation's folder: read as they are, and adopted into the transcript.

Every step of the adoption may be interrupted and done again; nothing is thrown away.
"""

import os
import zlib
from typing import cast

from marid.adapters.store import partition_index, partitions
from marid.adapters.store.entry_lines import complete_lines, encode_line, parse_lines
from marid.adapters.store.files import (
    is_time,
    parse_object,
    pretty_json,
    read_bytes,
    remove_if_exists,
    sync_folder,
    write_atomic,
)
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import AGENT, ANCHORS, COMPACTION, MESSAGE, NEVER_IN_WINDOW, SYSTEM, USER, Entry
from marid.core.conversation.records import StorageSettings
from marid.ports.transcript import Conversation

LEGACY_TRANSCRIPT = "transcript.jsonl"
LEGACY_MESSAGES = "context.json"
KEPT_IDS_KEY = "kept"
# The first entry of old windows, made from the system prompt, was never part of the conversation.
_NEVER_ADOPTED = ANCHORS | NEVER_IN_WINDOW | {"system_prompt"}


def with_legacy_lines(paths: ConversationPaths, active: bytes) -> bytes:
    """The lines of the active file, the only partition, as they will be after the adoption. Raises: OSError."""
    if paths.load_meta().id:
        return active
    stray = b"" if os.path.exists(paths.active) else _read_complete_lines(paths.transcript_file("context.jsonl"))
    old = _read_complete_lines(paths.file(LEGACY_TRANSCRIPT)) + stray
    if old and not active.startswith(old):
        active = old + active
    return active or _read_complete_lines(paths.window) or b"".join(map(encode_line, _legacy_messages(paths)))


def legacy_window(paths: ConversationPaths) -> list[Entry] | None:
    """The window that another program has left; None if there is none, or it is marked as wrong. Raises: OSError."""
    data = read_bytes(paths.window)
    if data is None or os.path.exists(paths.file(".dirty")):
        return None
    found = (line.entry for line in parse_lines(data) if line.entry.entry_type not in _NEVER_ADOPTED)
    # Derived ids: an adoption that is interrupted gives the same ones again.
    return [
        entry if entry.id else entry._replace(id=_derive_id(number, entry.content))
        for number, entry in enumerate(found)
    ]


def is_window_prefix(window: list[Entry] | None, own: list[Entry]) -> bool:
    """Whether our own window begins with all entries of the other program's window."""
    ids = [entry.id for entry in own if entry.entry_type not in ANCHORS]
    return not window or [entry.id for entry in window] == ids[: len(window)]


def legacy_created_at(paths: ConversationPaths) -> int:
    """The creation time in a `context.json`, in seconds, else 0. Raises: OSError."""
    made = (parse_object(read_bytes(paths.file(LEGACY_MESSAGES))) or {}).get("created_at")
    return made if is_time(made) else 0


def _read_complete_lines(path: str) -> bytes:
    return complete_lines(read_bytes(path) or b"")


def _legacy_messages(paths: ConversationPaths) -> list[Entry]:
    """The messages of a `context.json`. Raises: OSError."""
    found = parse_object(read_bytes(paths.file(LEGACY_MESSAGES))) or {}
    messages = found.get("messages")
    when = found.get("updated_at") or found.get("created_at")
    time_ms = when * 1000 if type(when) is int else 0
    made: list[Entry] = []
    for number, message in enumerate(cast("list[object]", messages) if isinstance(messages, list) else []):
        if isinstance(message, dict):
            made.append(_legacy_entry(paths.name, number, cast("dict[str, object]", message))._replace(time_ms=time_ms))
    return [entry for entry in made if entry.role in (USER, AGENT)]


def _legacy_entry(name: str, number: int, fields: dict[str, object]) -> Entry:
    content, key, speaker = (fields.get(field) for field in ("content", "id", "role"))
    text = content if isinstance(content, str) else ""
    role = {"user": USER, "assistant": AGENT}.get(speaker if isinstance(speaker, str) else "", SYSTEM)
    sender, to = (name, USER) if role == AGENT else (USER, name)
    key = key if isinstance(key, str) and key else _derive_id(number, text)
    return Entry(entry_type=MESSAGE, content=text, sender=sender, to=to, role=role, id=key)


def _derive_id(number: int, text: str) -> str:
    return f"old-{number}-{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def move_old_transcript(paths: ConversationPaths, storage: StorageSettings) -> None:
    """Bring `transcript.jsonl` below `transcript/`, and keep the file as a backup. Raises: OSError."""
    stray = paths.transcript_file("context.jsonl")
    if os.path.exists(stray) and not os.path.exists(paths.active):
        os.rename(stray, paths.active)
    old = paths.file(LEGACY_TRANSCRIPT)
    found = read_bytes(old)
    if found is None:
        return
    data = complete_lines(found)
    active = read_bytes(paths.active) or b""
    if not active.startswith(data):
        if active or partition_index.folder_stamp(paths):
            _prepend_partition(paths, storage, data)
        else:
            write_atomic(paths.active, data)
    _move_to_backup(old)


def _move_to_backup(path: str) -> None:
    number, backup = 1, f"{path}.bak"
    while os.path.lexists(backup):
        number += 1
        backup = f"{path}.bak{number}"
    os.rename(path, backup)
    sync_folder(os.path.dirname(path))


def _prepend_partition(paths: ConversationPaths, storage: StorageSettings, data: bytes) -> None:
    """Make it the oldest partition."""
    row = partitions.examine("", data, 0, storage._replace(enable_bloom_filters=False)).row
    if not row["entry_count"]:
        return
    paths.make_folders()
    name = f"partitions/{row['start_ts']}-{row['end_ts']}-old.jsonl"
    if read_bytes(paths.transcript_file(name)) != data:
        write_atomic(paths.transcript_file(name), data)
    _list_first_in_manifest(paths, name)


def _list_first_in_manifest(paths: ConversationPaths, file: str) -> None:
    """List the file before all others and without a stamp, so that it is read; other fields stay."""
    path = paths.transcript_file(partition_index.MANIFEST_FILE)
    found = parse_object(read_bytes(path)) or {}
    rows = found.pop("partitions", None)
    if not isinstance(rows, list):
        # Without a listed order partitions are ordered by time.
        remove_if_exists(path)
        return
    found.pop("stamp", None)
    write_atomic(path, pretty_json({**found, "partitions": [{"file": file}, *cast("list[object]", rows)]}))


def adopt_entries(conversation: Conversation, paths: ConversationPaths, window: list[Entry] | None) -> None:
    """Append what is only in the window or in the old file of another program.

    It is one append: the next opening finds all of it, or the window as it was.
    """
    messages = _legacy_messages(paths)
    known = {entry.id for entry in conversation.entries()} if messages or window else set[str]()
    added = [entry for entry in messages if entry.id not in known]
    if window and not is_window_prefix(window, [*conversation.window(), *added]):
        known |= {entry.id for entry in added}
        added += [entry for entry in window if entry.id not in known]
        anchor = Entry(entry_type=COMPACTION, content="window adopted", sender=SYSTEM, to=paths.name, role=SYSTEM)
        added.append(anchor._replace(metadata={KEPT_IDS_KEY: [entry.id for entry in window]}))
    if added:
        conversation.append(added)
    if os.path.exists(paths.file(LEGACY_MESSAGES)):
        _move_to_backup(paths.file(LEGACY_MESSAGES))
