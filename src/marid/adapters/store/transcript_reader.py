"""Reading a transcript: each method of the reader reads the files as they are at that moment; followers are woken."""

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from threading import Lock, Thread
from typing import NamedTuple, cast

from marid.adapters.store import entry_lines, legacy, partition_index, partitions
from marid.adapters.store.active_files import first_sequence
from marid.adapters.store.append_log import length_marker
from marid.adapters.store.entry_lines import KEPT_IDS_KEY, KEPT_SINCE_KEY, EntryLine, complete_lines, parse_lines
from marid.adapters.store.files import disk_errors, open_file, read_bytes, read_tail
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.partition_index import Manifest, PartitionRow, parse_row
from marid.core.conversation.entry import ANCHORS, CONTEXT_CREATED, NEVER_IN_WINDOW, SYSTEM, Entry
from marid.core.conversation.records import ConversationMeta, StorageSettings
from marid.core.errors import NotFound

# Enough of a file's end to hold an entry.
_TAIL_BYTES = 1 << 17
_POLL_INTERVAL = 0.02
# Seconds after which a file's time is surely older than its last change: file systems may store whole seconds.
_SETTLED_AGE = 2.0


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

    def window_since(self, found: Sequence[Entry], before: Sequence[Entry] = ()) -> list[Entry]:
        """The window, from entries that begin with the last anchor; those that it kept may be among `before`."""
        shown = [entry for entry in found if entry.entry_type not in NEVER_IN_WINDOW]
        kept = self._kept_entries(found[0], before) if found and found[0].entry_type in ANCHORS else []
        return [*shown[:1], *kept, *shown[1:]]

    def _kept_entries(self, anchor: Entry, before: Sequence[Entry]) -> list[Entry]:
        kept = anchor.metadata.get(KEPT_IDS_KEY)
        keys = [key for key in cast("list[object]", kept) if isinstance(key, str)] if isinstance(kept, list) else []
        known = {entry.id: entry for entry in before}
        missing, begin = set(keys).difference(known), anchor.metadata.get(KEPT_SINCE_KEY)
        if missing and type(begin) is int:
            for entry in self.entries(after=begin - 1):
                if entry.sequence >= anchor.sequence or not missing:
                    break
                if entry.id in missing:
                    missing.remove(entry.id)
                    known[entry.id] = entry
        found = (known.get(key) or self.find(key) for key in keys)
        return [entry for entry in found if entry is not None]

    def _active_lines(self) -> Iterator[EntryLine]:
        on_bad = entry_lines.report_bad_lines(self.paths.active, self.active, self.on_problem)
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
    """The time of the last message in a file, of the file if that one is too long, 0 without any. Raises: OSError."""
    data, about = read_tail(path, _TAIL_BYTES)
    found = [line.entry for line in parse_lines(data)]
    if data and not found:
        return about.st_mtime_ns // 1_000_000
    return max((entry.time_ms for entry in found if entry.entry_type not in ANCHORS), default=0)


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
    return window if window and window[0].entry_type in ANCHORS else [creation_anchor(known), *window]


def creation_anchor(known: ConversationMeta) -> Entry:
    """The anchor that every conversation begins with."""
    anchor = Entry(CONTEXT_CREATED, "conversation created", sender=SYSTEM, to=known.name, role=SYSTEM)
    return anchor._replace(id=f"{known.id}-created" if known.id else "", time_ms=known.created_ms)


class _WatchedFile:
    """A file as it was last seen, and its followers."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, ...] = ()
        self._length: tuple[int, int] | None = None
        self.followers: list[Callable[[], object]] = []
        self.is_changed()

    def is_changed(self) -> bool:
        """Whether the content has changed since the last call. Padded files grow without a change of size, so the
        length is read unless the file's time is old enough to be trusted.
        """
        try:
            about = os.stat(self._path)
            stamp = about.st_ino, about.st_size, about.st_mtime_ns
            if stamp == self._stamp and time.time() - about.st_mtime > _SETTLED_AGE:
                return False
            length = length_marker(self._path)
        except OSError:
            stamp, length = (), None
        changed = length != self._length
        self._stamp, self._length = stamp, length
        return changed


class ChangeWatcher:
    """Wakes followers: one thread checks every followed file 50 times a second, and ends with the last follower."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[str, _WatchedFile] = {}
        self._thread: Thread | None = None

    def subscribe(self, path: str, wake: Callable[[], object]) -> Callable[[], None]:
        """Call `wake` now and at every change of the file, until the returned function is called."""
        with self._lock:
            file = self._files[path] = self._files.get(path) or _WatchedFile(path)
            file.followers.append(wake)
            # A forked child does not have the thread.
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, daemon=True, name="marid followers")
                self._thread.start()
        wake()
        return lambda: self._unsubscribe(path, wake)

    def _unsubscribe(self, path: str, wake: Callable[[], object]) -> None:
        with self._lock:
            file = self._files.get(path)
            if file is not None and wake in file.followers:
                file.followers.remove(wake)
                if not file.followers:
                    del self._files[path]

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._files:
                    self._thread = None
                    return
                files = dict(self._files)
            for path, file in files.items():
                for wake in tuple(file.followers) if file.is_changed() else ():
                    try:
                        wake()
                    except Exception:  # noqa: BLE001 (a follower with a closed event loop must not stop the others)
                        self._unsubscribe(path, wake)
            time.sleep(_POLL_INTERVAL)
