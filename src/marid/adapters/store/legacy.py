"""Files of older programs in a conversation's folder: read as they are, and adopted into the transcript.

Every step of the adoption may be interrupted and done again; nothing is thrown away.
"""

import os
import zlib
from itertools import count
from typing import cast

from marid.adapters.store import files, partition_index, partitions
from marid.adapters.store.entry_lines import KEPT_IDS_KEY, complete_lines, encode_line, parse_lines
from marid.adapters.store.files import parse_object, read_bytes, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import AGENT, ANCHORS, COMPACTION, MESSAGE, NEVER_IN_WINDOW, SYSTEM, USER, Entry
from marid.core.conversation.records import StorageSettings
from marid.ports.transcript import Conversation

LEGACY_TRANSCRIPT = "transcript.jsonl"
LEGACY_MESSAGES = "context.json"
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
    return [entry._replace(id=entry.id or _derive_id(number, entry.content)) for number, entry in enumerate(found)]


def is_window_prefix(window: list[Entry] | None, own: list[Entry]) -> bool:
    """Whether our own window begins with all entries of the other program's window."""
    ids = [entry.id for entry in own if entry.entry_type not in ANCHORS]
    return not window or [entry.id for entry in window] == ids[: len(window)]


def legacy_created_at(paths: ConversationPaths) -> int:
    """The creation time in a `context.json`, in seconds, else 0. Raises: OSError."""
    made = (parse_object(read_bytes(paths.file(LEGACY_MESSAGES))) or {}).get("created_at")
    return made if files.is_time(made) else 0


def _read_complete_lines(path: str) -> bytes:
    return complete_lines(read_bytes(path) or b"")


def _legacy_messages(paths: ConversationPaths) -> list[Entry]:
    """The messages of the user and the agent in a `context.json`. Raises: OSError."""
    found = parse_object(read_bytes(paths.file(LEGACY_MESSAGES))) or {}
    when = found.get("updated_at") or found.get("created_at")
    time_ms = when * 1000 if type(when) is int else 0
    messages = cast("list[object]", found["messages"]) if isinstance(found.get("messages"), list) else []
    made: list[Entry] = []
    for number, message in enumerate(messages):
        fields = cast("dict[str, object]", message) if isinstance(message, dict) else {}
        texts = {name: value for name, value in fields.items() if isinstance(value, str)}
        content, role = texts.get("content", ""), texts.get("role")
        key = texts.get("id") or _derive_id(number, content)
        if role == "assistant":
            made.append(Entry(MESSAGE, content, sender=paths.name, to=USER, role=AGENT, id=key, time_ms=time_ms))
        elif role == "user":
            made.append(Entry(MESSAGE, content, sender=USER, to=paths.name, role=USER, id=key, time_ms=time_ms))
    return made


def _derive_id(number: int, text: str) -> str:
    return f"old-{number}-{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def move_old_transcript(paths: ConversationPaths, storage: StorageSettings) -> None:
    """Bring `transcript.jsonl` below `transcript/`, and keep the file as a backup. Raises: OSError."""
    stray = paths.transcript_file("context.jsonl")
    if os.path.exists(stray) and not os.path.exists(paths.active):
        os.rename(stray, paths.active)
    old = paths.file(LEGACY_TRANSCRIPT)
    if not os.path.lexists(old):
        return
    data, active = _read_complete_lines(old), read_bytes(paths.active) or b""
    if not active.startswith(data):
        if active or partition_index.folder_stamp(paths):
            _prepend_partition(paths, storage, data)
        else:
            write_atomic(paths.active, data)
    _move_to_backup(old)


def _move_to_backup(path: str) -> None:
    names = (f"{path}.bak{number if number > 1 else ''}" for number in count(1))
    os.rename(path, next(name for name in names if not os.path.lexists(name)))
    files.sync_folder(os.path.dirname(path))


def _prepend_partition(paths: ConversationPaths, storage: StorageSettings, data: bytes) -> None:
    """Make it the oldest partition, listed before all others and without a stamp, so that it is read."""
    row, entries = partitions.examine("", data, 0, storage)
    if not entries:
        return
    paths.make_folders()
    name = f"partitions/{row['start_ts']}-{row['end_ts']}-old.jsonl"
    if read_bytes(paths.transcript_file(name)) != data:
        write_atomic(paths.transcript_file(name), data)
    path = paths.transcript_file(partition_index.MANIFEST_FILE)
    found = parse_object(read_bytes(path)) or {}
    rows = found.pop("partitions", None)
    if not isinstance(rows, list):
        # Without a listed order partitions are ordered by time.
        files.remove_if_exists(path)
        return
    found.pop("stamp", None)
    write_atomic(path, files.pretty_json({**found, "partitions": [{"file": name}, *cast("list[object]", rows)]}))


def adopt_entries(conversation: Conversation, paths: ConversationPaths, window: list[Entry] | None) -> None:
    """Append, all at once, what is only in the window or in the old file of another program."""
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
