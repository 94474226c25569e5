"""What older programs have left in a conversation's folder, brought into the transcript; nothing is thrown away.

Every step may be interrupted and done again.
"""

import os
from typing import TYPE_CHECKING, cast

from marid.adapters.store import manifest, older, partitions
from marid.adapters.store.files import as_object, pretty, read_bytes, remove, sync_folder, write_whole
from marid.adapters.store.history import KEPT
from marid.adapters.store.journal import whole
from marid.adapters.store.layout import Place
from marid.core.conversation import Storage
from marid.core.entry import COMPACTION, SYSTEM, Entry
from marid.workspace.private import private_folder

if TYPE_CHECKING:
    from marid.adapters.store.conversation import StoredConversation


def move_old_transcript(place: Place, storage: Storage) -> None:
    """Bring `transcript.jsonl` below `transcript/`; the file itself stays as a backup. Raises: OSError."""
    strayed = place.transcript("context.jsonl")
    if os.path.exists(strayed) and not os.path.exists(place.active):
        os.rename(strayed, place.active)
    old = place.file(older.TRANSCRIPT)
    found = read_bytes(old)
    if found is None:
        return
    data = whole(found)
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


def adopt(conversation: "StoredConversation", place: Place, window: list[Entry] | None) -> None:
    """Take over a conversation that another program has made: what only its window or its old file has is appended.

    All of it is one append: either the next opening finds all of it, or it finds the window as it was.
    """
    messages = older.old_messages(place)
    known = {entry.id for entry in conversation.entries()} if messages or window else set[str]()
    added = [entry for entry in messages if entry.id not in known]
    if window and not older.is_shown(window, [*conversation.shown(), *added]):
        known |= {entry.id for entry in added}
        added += [entry for entry in window if entry.id not in known]
        anchor = Entry(entry_type=COMPACTION, content="window adopted", sender=SYSTEM, to=place.name, role=SYSTEM)
        added.append(anchor._replace(metadata={KEPT: [entry.id for entry in window]}))
    if added:
        conversation.append(added)
    if os.path.exists(place.file(older.MESSAGES)):
        put_away(place.file(older.MESSAGES))


def _put_before(place: Place, storage: Storage, data: bytes) -> None:
    """As the oldest partition."""
    seen = partitions.examine("", data, 0, storage._replace(enable_bloom_filters=False))
    if not seen.row["entry_count"]:
        return
    private_folder(place.partitions)
    name = f"partitions/{seen.row['start_ts']}-{seen.row['end_ts']}-old.jsonl"
    if read_bytes(place.transcript(name)) != data:
        write_whole(place.transcript(name), data)
    _list_first(place, name)


def _list_first(place: Place, file: str) -> None:
    """The manifest lists it before all others, to be looked through; what else another program says there stays."""
    path = place.transcript(manifest.FILE)
    found = as_object(read_bytes(path) or b"") or {}
    rows = found.pop("partitions", None)
    if not isinstance(rows, list):
        # Without an order that somebody has given, that of the times counts.
        remove(path)
        return
    found.pop("stamp", None)
    write_whole(path, pretty({**found, "partitions": [{"file": file}, *cast("list[object]", rows)]}))
