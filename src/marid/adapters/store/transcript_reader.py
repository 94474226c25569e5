"""A transcript that is read: each method of the reader reads the files as they are at that moment."""

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import NamedTuple, cast

from marid.adapters.store import legacy, partition_index, partitions
from marid.adapters.store.active_files import first_sequence
from marid.adapters.store.entry_lines import EntryLine, complete_lines, parse_lines, report_bad_lines
from marid.adapters.store.files import disk_errors, open_file, read_bytes, read_tail
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.legacy import KEPT_IDS_KEY
from marid.adapters.store.partition_index import Manifest, PartitionRow, parse_row
from marid.core.conversation.entry import ANCHORS, CONTEXT_CREATED, NEVER_IN_WINDOW, SYSTEM, Entry
from marid.core.conversation.records import ConversationMeta, StorageSettings
from marid.core.errors import NotFound

KEPT_SINCE_KEY = "kept_since"
# Enough of a file's end to hold an entry.
_TAIL_BYTES = 1 << 17


class TranscriptSnapshot(NamedTuple):
    """`active` holds whole lines only. Partitions are read when they are needed: all methods raise OSError.

    `on_problem` gets a note about each unreadable line that a method meets.
    """

    paths: ConversationPaths
    manifest: Manifest
    active: bytes
    on_problem: Callable[[str], None] | None = None

    def last_sequence(self) -> int:
        """The number of the last entry, 0 without any."""
        return max((line.entry.sequence for line in self._active_lines()), default=self.manifest.last_sequence)

    def entries(self, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        """The entries beyond the cursor, in order."""
        rows = self.manifest.rows
        first = bisect_right(rows, after, key=lambda row: parse_row(row)["last_sequence"])
        sealed = chain.from_iterable(map(self._partition_lines, map(parse_row, rows[first:])))
        for line in chain(sealed, self._active_lines()):
            if line.entry.sequence > after and (not types or line.entry.entry_type in types):
                yield line.entry

    def find(self, key: str) -> Entry | None:
        """By id: in the active file, then in partitions whose filter may contain it, newest first."""
        active = self._active_lines() if partitions.may_mention(self.active, key) else ()
        rows = self._candidate_rows(partition_index.IDS_FILE, {key})
        sealed = chain.from_iterable(self._partition_lines(row, key) for row in rows)
        return next((line.entry for line in chain(active, sealed) if line.entry.id == key), None)

    def search(self, query: str, *, whole_words: bool) -> Iterator[Entry]:
        """Entries that have all words of the query, oldest first."""
        words = partition_index.words_of(query) if whole_words else set[str]()
        parts = query.casefold().split()
        if not parts:
            return
        terms = partition_index.query_terms(query, whole_words=whole_words)
        rows = reversed(list(self._candidate_rows(partition_index.WORDS_FILE, terms)))
        sealed = chain.from_iterable(self._partition_lines(row) for row in rows)
        for line in chain(sealed, self._active_lines()):
            text = line.entry.content.casefold()
            if all(part in text for part in parts) and words <= (partition_index.words_of(text) if words else words):
                yield line.entry

    def window(self) -> list[Entry]:
        """The last anchor, the entries that it kept, and those after it; all entries if there is no anchor."""
        active = [line.entry for line in self._active_lines()]
        if anchors := [index for index, entry in enumerate(active) if entry.entry_type in ANCHORS]:
            return self.window_since(active[anchors[-1] :])
        sealed_anchors = (parse_row(row)["anchor_sequence"] for row in reversed(self.manifest.rows))
        start = next(filter(None, sealed_anchors), 0)
        sealed = list(self._replace(active=b"").entries(after=start - 1))
        return self.window_since(sealed + active)

    def window_since(self, found: list[Entry]) -> list[Entry]:
        """The window, from entries that begin with the last anchor."""
        later = [entry for entry in found[1:] if entry.entry_type not in NEVER_IN_WINDOW]
        if not found or found[0].entry_type not in ANCHORS:
            return [entry for entry in found if entry.entry_type not in NEVER_IN_WINDOW]
        return [found[0], *self._kept_entries(found[0]), *later]

    def _kept_entries(self, anchor: Entry) -> list[Entry]:
        keys = kept_ids(anchor)
        if not keys:
            return []
        begin = anchor.metadata.get(KEPT_SINCE_KEY)
        wanted = set(keys)
        known: dict[str, Entry] = {}
        if type(begin) is int:
            for entry in self.entries(after=begin - 1):
                if entry.sequence >= anchor.sequence or len(known) == len(wanted):
                    break
                if entry.id in wanted:
                    known[entry.id] = entry
        found = (known.get(key) or self.find(key) for key in keys)
        return [entry for entry in found if entry is not None]

    def _active_lines(self) -> Iterator[EntryLine]:
        on_bad = report_bad_lines(self.paths.active, self.active, self.on_problem)
        return parse_lines(self.active, before=self.manifest.last_sequence, on_bad=on_bad)

    def _partition_lines(self, row: PartitionRow, key: str = "") -> Iterator[EntryLine]:
        return partitions.read_partition(self.paths, row, key, self.on_problem)

    def _candidate_rows(self, kind: str, terms: Collection[str]) -> Iterator[PartitionRow]:
        """The partitions that may have all of the terms, newest first."""
        rows = map(parse_row, reversed(self.manifest.rows))
        if not terms:
            yield from rows
            return
        frames = partition_index.load_frames(self.paths.transcript_file(kind)) if self.manifest.rows else {}
        for row in rows:
            path = self.paths.transcript_file(row["file"])
            frame = frames.get(row["file"]) or partition_index.sidecar_frame(path, kind)
            if partition_index.may_contain(frame, row, terms) or not partitions.is_unchanged(self.paths, row):
                yield row


def take_snapshot(
    paths: ConversationPaths, storage: StorageSettings, on_problem: Callable[[str], None] | None = None
) -> TranscriptSnapshot:
    """The transcript as it is now, also while another process writes it. Raises: OSError."""
    while True:
        try:
            file = os.fdopen(open_file(paths.active), "rb")
        except FileNotFoundError:
            manifest, _ = partitions.survey(paths, storage, 0)
            if not os.path.exists(paths.active):
                return _with_legacy_lines(TranscriptSnapshot(paths, manifest, b"", on_problem))
            continue
        with file, suppress(FileNotFoundError):
            data = complete_lines(file.read())
            manifest, _ = partitions.survey(paths, storage, first_sequence(paths, data))
            # If it is still the active file, it has not become a partition meanwhile.
            if os.path.samestat(os.stat(paths.active), os.fstat(file.fileno())):
                return _with_legacy_lines(TranscriptSnapshot(paths, manifest, data, on_problem))


def _with_legacy_lines(found: TranscriptSnapshot) -> TranscriptSnapshot:
    active = found.active if found.manifest.last_sequence else legacy.with_legacy_lines(found.paths, found.active)
    # Line numbers mean nothing if lines come from several files.
    return found if active == found.active else found._replace(active=active, on_problem=None)


def last_entry_ms(path: str) -> int:
    """The time of the last message by the end of a file, 0 without any. Raises: OSError.

    If the last line is too long to be read here, the time of the file.
    """
    data, about = read_tail(path, _TAIL_BYTES)
    found = [line.entry for line in parse_lines(data)]
    if data and not found:
        return about.st_mtime_ns // 1_000_000
    return max((entry.time_ms for entry in found if entry.entry_type not in ANCHORS), default=0)


def kept_ids(anchor: Entry) -> list[str]:
    """The ids of the entries that an anchor kept, in its order."""
    kept = anchor.metadata.get(KEPT_IDS_KEY)
    return [key for key in cast("list[object]", kept) if isinstance(key, str)] if isinstance(kept, list) else []


class TranscriptReader:
    """The port ConversationReader."""

    def __init__(self, paths: ConversationPaths, storage: StorageSettings) -> None:
        self._paths = paths
        self._storage = storage
        self._problems: dict[str, None] = {}

    def meta(self) -> ConversationMeta:
        with disk_errors(f"reading '{self._paths.meta}'"):
            known = self._paths.load_meta()
            self._check_exists()
            return known

    def sequence(self) -> int:
        with self._read_errors():
            return self._snapshot().last_sequence()

    def window(self) -> tuple[Entry, ...]:
        with self._read_errors():
            known, own = self.meta(), self._snapshot().window()
            foreign = None if known.id else legacy.legacy_window(self._paths)
            return tuple(with_initial_anchor(own if legacy.is_window_prefix(foreign, own) else foreign or [], known))

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        with self._read_errors():
            yield from self._snapshot().entries(after, types)

    def find(self, key: str) -> Entry | None:
        with self._read_errors():
            return self._snapshot().find(key)

    def search(self, query: str, *, whole_words: bool = False) -> Iterator[Entry]:
        with self._read_errors():
            yield from self._snapshot().search(query, whole_words=whole_words)

    def read_note(self, name: str) -> str:
        path = self._paths.note(name)
        with disk_errors(f"reading '{path}'"):
            text = (read_bytes(path) or b"").decode("utf-8", "replace")
            self._check_exists()
            return text

    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems)

    def _snapshot(self) -> TranscriptSnapshot:
        found = take_snapshot(self._paths, self._storage, self._add_problem)
        self._check_exists()
        return found

    def _add_problem(self, problem: str) -> None:
        self._problems[problem] = None

    def _check_exists(self) -> None:
        """Call it after a read: a conversation that is gone looks empty. Raises: NotFound."""
        if not os.path.lexists(self._paths.folder):
            raise NotFound(f"the conversation '{self._paths.name}' no longer exists")

    @contextmanager
    def _read_errors(self) -> Generator[None]:
        with disk_errors(f"reading the conversation '{self._paths.name}'"):
            try:
                yield
            except FileNotFoundError:
                self._check_exists()
                raise


def with_initial_anchor(window: list[Entry], known: ConversationMeta) -> list[Entry]:
    """The window, with the creation anchor if it has no anchor yet."""
    if window and window[0].entry_type in ANCHORS:
        return window
    return [creation_anchor(known), *window]


def creation_anchor(known: ConversationMeta) -> Entry:
    """The anchor that every conversation begins with."""
    return Entry(
        entry_type=CONTEXT_CREATED,
        content="conversation created",
        sender=SYSTEM,
        to=known.name,
        role=SYSTEM,
        id=f"{known.id}-created" if known.id else "",
        time_ms=known.created_ms,
    )
