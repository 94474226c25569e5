"""What older programs have left in a conversation's folder, brought into the transcript; nothing is thrown away.

Every step may be interrupted and done again.
"""

import os
from typing import TYPE_CHECKING, cast

from marid.adapters.store import legacy, manifest, partitions
from marid.adapters.store.append_log import complete_lines
from marid.adapters.store.atomic_files import (
    parse_object,
    pretty_json,
    read_bytes,
    remove_if_exists,
    sync_folder,
    write_atomic,
)
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.snapshot import KEPT_IDS_KEY
from marid.core.conversation.entry import COMPACTION, SYSTEM, Entry
from marid.core.conversation.records import StorageSettings
from marid.workspace.write.private_folders import make_private_folder

if TYPE_CHECKING:
    from marid.adapters.store.open_conversation import OpenConversation


def move_old_transcript(paths: ConversationPaths, storage: StorageSettings) -> None:
    """Bring `transcript.jsonl` below `transcript/`; the file itself stays as a backup. Raises: OSError."""
    strayed = paths.transcript_file("context.jsonl")
    if os.path.exists(strayed) and not os.path.exists(paths.active):
        os.rename(strayed, paths.active)
    old = paths.file(legacy.LEGACY_TRANSCRIPT)
    found = read_bytes(old)
    if found is None:
        return
    data = complete_lines(found)
    active = read_bytes(paths.active) or b""
    if not active.startswith(data):
        if active or manifest.folder_stamp(paths):
            _prepend_partition(paths, storage, data)
        else:
            write_atomic(paths.active, data)
    move_to_backup(old)


def move_to_backup(path: str) -> None:
    """Give the file a name that nobody reads. Raises: OSError."""
    number, backup = 1, f"{path}.bak"
    while os.path.lexists(backup):
        number += 1
        backup = f"{path}.bak{number}"
    os.rename(path, backup)
    sync_folder(os.path.dirname(path))


def adopt_entries(conversation: "OpenConversation", paths: ConversationPaths, window: list[Entry] | None) -> None:
    """Take over a conversation that another program has made: what only its window or its old file has is appended.

    All of it is one append: either the next opening finds all of it, or it finds the window as it was.
    """
    messages = legacy.legacy_messages(paths)
    known = {entry.id for entry in conversation.entries()} if messages or window else set[str]()
    added = [entry for entry in messages if entry.id not in known]
    if window and not legacy.is_window_prefix(window, [*conversation.current_window(), *added]):
        known |= {entry.id for entry in added}
        added += [entry for entry in window if entry.id not in known]
        anchor = Entry(entry_type=COMPACTION, content="window adopted", sender=SYSTEM, to=paths.name, role=SYSTEM)
        added.append(anchor._replace(metadata={KEPT_IDS_KEY: [entry.id for entry in window]}))
    if added:
        conversation.append(added)
    if os.path.exists(paths.file(legacy.LEGACY_MESSAGES)):
        move_to_backup(paths.file(legacy.LEGACY_MESSAGES))


def _prepend_partition(paths: ConversationPaths, storage: StorageSettings, data: bytes) -> None:
    """As the oldest partition."""
    seen = partitions.examine("", data, 0, storage._replace(enable_bloom_filters=False))
    if not seen.row["entry_count"]:
        return
    make_private_folder(paths.partitions)
    name = f"partitions/{seen.row['start_ts']}-{seen.row['end_ts']}-old.jsonl"
    if read_bytes(paths.transcript_file(name)) != data:
        write_atomic(paths.transcript_file(name), data)
    _list_first_in_manifest(paths, name)


def _list_first_in_manifest(paths: ConversationPaths, file: str) -> None:
    """The manifest lists it before all others, to be looked through; what else another program says there stays."""
    path = paths.transcript_file(manifest.MANIFEST_FILE)
    found = parse_object(read_bytes(path) or b"") or {}
    rows = found.pop("partitions", None)
    if not isinstance(rows, list):
        # Without an order that somebody has given, that of the times counts.
        remove_if_exists(path)
        return
    found.pop("stamp", None)
    write_atomic(path, pretty_json({**found, "partitions": [{"file": file}, *cast("list[object]", rows)]}))
