"""A transcript as it stands at one moment, partitions and active file, and everything that is read from it."""

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, cast

from marid.adapters.store import bloom_filters, legacy, partitions
from marid.adapters.store.active_partition import first_sequence
from marid.adapters.store.append_log import complete_lines, read_range
from marid.adapters.store.atomic_files import open_file
from marid.adapters.store.entry_lines import EntryLine, parse_lines, report_bad_lines
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.manifest import PartitionRow
from marid.core.conversation.entry import ANCHORS, NEVER_IN_WINDOW, Entry
from marid.core.conversation.records import StorageSettings

# As much of a file's end as holds an entry or more.
_TAIL_BYTES = 1 << 17
KEPT_IDS_KEY = "kept"
KEPT_SINCE_KEY = "kept_since"


class TranscriptSnapshot(NamedTuple):
    """`active` holds whole lines only. What is read later than it was made may raise OSError.

    `tell` hears of every line that is met and cannot be read.
    """

    paths: ConversationPaths
    rows: Sequence[PartitionRow]
    active: bytes
    on_problem: Callable[[str], None] | None = None

    @property
    def sealed_sequence(self) -> int:
        """The number of the last entry in a partition."""
        return self.rows[-1]["last_sequence"] if self.rows else 0


def take_snapshot(
    paths: ConversationPaths, storage: StorageSettings, tell: Callable[[str], None] | None = None
) -> TranscriptSnapshot:
    """What is there now, though somebody may be writing. Raises: OSError."""
    while True:
        try:
            fd = open_file(paths.active)
        except FileNotFoundError:
            found, _ = partitions.survey(paths, storage, 0)
            if not os.path.exists(paths.active):
                return _with_legacy_lines(TranscriptSnapshot(paths, found.rows, b"", tell))
            continue
        try:
            data = complete_lines(read_range(fd, 0, os.fstat(fd).st_size))
            found, _ = partitions.survey(paths, storage, first_sequence(paths, data))
            # The same file is still the active one: it did not become a partition meanwhile.
            if _is_same_file(paths.active, fd):
                return _with_legacy_lines(TranscriptSnapshot(paths, found.rows, data, tell))
        finally:
            os.close(fd)


def _with_legacy_lines(history: TranscriptSnapshot) -> TranscriptSnapshot:
    active = history.active if history.sealed_sequence else legacy.with_legacy_lines(history.paths, history.active)
    # What comes from other files as well has no numbers of lines that would mean something.
    return history if active == history.active else history._replace(active=active, on_problem=None)


def _active_lines(history: TranscriptSnapshot) -> Iterator[EntryLine]:
    told = report_bad_lines(history.paths.active, history.active, history.on_problem)
    return parse_lines(history.active, before=history.sealed_sequence, on_bad=told)


def _partition_lines(history: TranscriptSnapshot, row: PartitionRow, key: str = "") -> Iterator[EntryLine]:
    return partitions.read_partition(history.paths, row, key, history.on_problem)


def _is_same_file(path: str, fd: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


def last_entry_ms(path: str) -> int:
    """When something was last said, as the end of a file tells; 0 when nothing was. Raises: OSError.

    Where not even the last line is short enough to be seen, it is the file's own time.
    """
    fd = open_file(path)
    try:
        about = os.fstat(fd)
        data = read_range(fd, max(0, about.st_size - _TAIL_BYTES), about.st_size)
    finally:
        os.close(fd)
    found = [line.entry for line in parse_lines(data)]
    if data and not found:
        return about.st_mtime_ns // 1_000_000
    return max((entry.time_ms for entry in found if entry.entry_type not in ANCHORS), default=0)


def last_sequence(history: TranscriptSnapshot) -> int:
    """The number of the last entry, 0 without any."""
    number = history.sealed_sequence
    for line in _active_lines(history):
        number = line.entry.sequence
    return number


def entries(history: TranscriptSnapshot, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
    """Those beyond the cursor, in order. Raises: OSError."""
    first = bisect_right(history.rows, after, key=lambda row: row["last_sequence"])
    sealed = chain.from_iterable(_partition_lines(history, row) for row in history.rows[first:])
    for line in chain(sealed, _active_lines(history)):
        if line.entry.sequence > after and (not types or line.entry.entry_type in types):
            yield line.entry


def find(history: TranscriptSnapshot, key: str) -> Entry | None:
    """By id: the active file, then the partitions, newest first, whose filter knows it. Raises: OSError."""
    if partitions.may_mention(history.active, key):
        found = partitions.find_entry(_active_lines(history), key)
        if found is not None:
            return found
    for row in _candidate_rows(history, bloom_filters.IDS_FILE, {key}):
        found = partitions.find_entry(_partition_lines(history, row, key), key)
        if found is not None:
            return found
    return None


def search(history: TranscriptSnapshot, query: str, *, whole_words: bool) -> Iterator[Entry]:
    """Entries that have all words of the query, oldest first. Raises: OSError."""
    words = bloom_filters.words_of(query) if whole_words else set[str]()
    parts = query.casefold().split()
    if not parts:
        return
    rows = reversed(
        list(
            _candidate_rows(
                history, bloom_filters.WORDS_FILE, bloom_filters.query_terms(query, whole_words=whole_words)
            )
        )
    )
    sealed = chain.from_iterable(_partition_lines(history, row) for row in rows)
    for line in chain(sealed, _active_lines(history)):
        text = line.entry.content.casefold()
        if all(part in text for part in parts) and words <= (bloom_filters.words_of(text) if words else words):
            yield line.entry


def _candidate_rows(history: TranscriptSnapshot, kind: str, items: Collection[str]) -> Iterator[PartitionRow]:
    """The partitions that may have all of the items, newest first."""
    if not items:
        yield from reversed(history.rows)
        return
    frames = bloom_filters.load_frames(history.paths.transcript_file(kind)) if history.rows else {}
    for row in reversed(history.rows):
        frame = frames.get(row["file"]) or bloom_filters.sidecar_frame(history.paths.transcript_file(row["file"]), kind)
        if bloom_filters.may_contain(frame, row, items) or not partitions.is_unchanged(history.paths, row):
            yield row


def window(history: TranscriptSnapshot) -> list[Entry]:
    """The last anchor, what it kept, and what came after it; all of it when there is no anchor. Raises: OSError."""
    return window_since(history, _from_last_anchor(history))


def window_since(history: TranscriptSnapshot, found: list[Entry]) -> list[Entry]:
    """The window, of entries that begin with the last anchor."""
    later = [entry for entry in found[1:] if entry.entry_type not in NEVER_IN_WINDOW]
    if not found or found[0].entry_type not in ANCHORS:
        return [entry for entry in found if entry.entry_type not in NEVER_IN_WINDOW]
    return [found[0], *_kept_entries(history, found[0]), *later]


def _from_last_anchor(history: TranscriptSnapshot) -> list[Entry]:
    active = [line.entry for line in _active_lines(history)]
    for index in range(len(active) - 1, -1, -1):
        if active[index].entry_type in ANCHORS:
            return active[index:]
    return sealed_since_anchor(history) + active


def sealed_since_anchor(history: TranscriptSnapshot) -> list[Entry]:
    """The entries of partitions from the last anchor in them on. Raises: OSError."""
    start = next((row["anchor_sequence"] for row in reversed(history.rows) if row["anchor_sequence"]), 0)
    return list(entries(history._replace(active=b""), after=start - 1))


def kept_ids(anchor: Entry) -> list[str]:
    """Which entries an anchor says that it kept."""
    kept = anchor.metadata.get(KEPT_IDS_KEY)
    return [key for key in cast("list[object]", kept) if isinstance(key, str)] if isinstance(kept, list) else []


def _kept_entries(history: TranscriptSnapshot, anchor: Entry) -> list[Entry]:
    """What an anchor says that it kept, in its order."""
    keys = kept_ids(anchor)
    if not keys:
        return []
    begin = anchor.metadata.get(KEPT_SINCE_KEY)
    wanted = set(keys)
    there: dict[str, Entry] = {}
    if type(begin) is int:
        for entry in entries(history, after=begin - 1):
            if entry.sequence >= anchor.sequence or len(there) == len(wanted):
                break
            if entry.id in wanted:
                there[entry.id] = entry
    found = (there.get(key) or find(history, key) for key in keys)
    return [entry for entry in found if entry is not None]
