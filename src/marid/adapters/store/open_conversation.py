"""A conversation under its lease: entries are on the disk before `append` returns."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from threading import RLock
from typing import Self

from marid.adapters.store import entry_lines, partitions
from marid.adapters.store.active_files import ActivePartition, WindowFile, first_sequence
from marid.adapters.store.append_log import CommitWaiter, GroupCommit
from marid.adapters.store.entry_lines import KEPT_IDS_KEY, KEPT_SINCE_KEY, encode_line
from marid.adapters.store.files import disk_errors, remove_if_exists, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.lease import Lease
from marid.adapters.store.partition_index import Manifest
from marid.adapters.store.transcript_reader import TranscriptReader, TranscriptSnapshot, with_initial_anchor
from marid.core.conversation.entry import (
    ANCHORS,
    ARCHIVAL,
    NEVER_IN_WINDOW,
    RANDOM_BITS,
    SYSTEM,
    SYSTEM_PROMPT_CHANGED,
    Entry,
    make_id,
)
from marid.core.conversation.records import (
    ConversationArchived,
    ConversationMeta,
    Corrupt,
    SequenceConflict,
    StorageSettings,
)
from marid.core.errors import BadInput, MaridError, Unavailable
from marid.workspace.plain_files import make_private_folder

_NOT_APPENDED_PLAINLY = ANCHORS | NEVER_IN_WINDOW
_ID, _SEQUENCE, _TIME = (Entry._fields.index(name) for name in ("id", "sequence", "time_ms"))
_PROMPT_MTIME_KEY = "system_prompt_md_mtime"


class _AppendRequest(CommitWaiter):
    """The entries of one append, encoded as far as possible, and the result."""

    def __init__(self, entries: Sequence[Entry], expected: int | None, now: float, id_bits: Iterator[int]) -> None:
        now_ms, now_ns = round(now * 1000), int(now * 1_000_000_000)
        self.expected = expected
        self.stored: list[tuple[Entry, bytes]] = []
        self.is_stored = False
        self.error: MaridError | None = None
        self._encoded_entries: list[tuple[list[object], bytes]] = []
        for entry in entries:
            fields = list[object](entry)
            fields[_ID] = entry.id or make_id(now_ns, next(id_bits))
            fields[_TIME] = entry.time_ms or now_ms
            self._encoded_entries.append((fields, entry_lines.begin_line(Entry._make(fields))))

    def assign_numbers(self, last: int) -> int:
        """Number the lines, which follow number `last`; the number of the last one. Raises: SequenceConflict."""
        if self.expected is not None and self.expected != last:
            raise SequenceConflict(f"the conversation is at entry {last}, not at {self.expected}", last)
        left = len(self._encoded_entries)
        for fields, line in self._encoded_entries:
            last, left = last + 1, left - 1
            fields[_SEQUENCE] = last
            self.stored.append((Entry._make(fields), entry_lines.finish_line(line, last, left)))
        return last

    def window_lines(self) -> bytes:
        """The lines for the window file, which has no groups."""
        return self.stored[0][1] if len(self.stored) == 1 else b"".join(encode_line(entry) for entry, _ in self.stored)


class OpenConversation(TranscriptReader):
    """The port Conversation. Opening repairs what a crash has left.

    The window file is left alone until `start_window_file`: that of another program may be the only copy of entries.
    """

    def __init__(
        self,
        paths: ConversationPaths,
        storage: StorageSettings,
        lease: Lease,
        clock: Callable[[], float] = time.time,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(paths, storage)
        self._on_close = on_close
        self._lease = lease
        self._clock = clock
        self._lock = RLock()
        self._group_commit = GroupCommit(self._commit)
        # A random start and a counter: each os.urandom would release the GIL, and the ids of one append must sort in
        # its order. The highest bit is left for the counter.
        self._id_bits = count(int.from_bytes(os.urandom(8), "big") >> 65 - RANDOM_BITS)
        self._meta = paths.load_meta()
        self._manifest = Manifest()
        self._active = ActivePartition(paths, storage)
        self._stale = True
        self._window = WindowFile(paths, ())
        try:
            self._window.replace(with_initial_anchor(self._recover(), self._meta))
        except BaseException:
            self._active.abandon()
            raise

    def start_window_file(self) -> None:
        """The transcript is complete: write the window for other programs."""
        with self._lock:
            self._lease.check()
            self._window.start()

    def meta(self) -> ConversationMeta:
        with self._lock:
            self._lease.check()
            return self._meta

    def fencing_token(self) -> int:
        self._lease.check()
        return self._lease.token

    def sequence(self) -> int:
        self._lease.check()
        return self._active.tally.last

    def window(self) -> tuple[Entry, ...]:
        with self._lock:
            self._lease.check()
            self._window.flush()
            return tuple(self._window.entries)

    def read_note(self, name: str) -> str:
        self._lease.check()
        return super().read_note(name)

    def problems(self) -> tuple[str, ...]:
        self._lease.check()
        return super().problems()

    def append(self, entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        # Encoded here, before other threads wait for it.
        request = _AppendRequest(entries, expected, self._clock(), self._id_bits)
        self._group_commit.submit(request)
        if request.error is not None:
            raise request.error
        if not request.is_stored:
            raise Unavailable("the entry was not stored: another append in the same write has failed")
        return tuple(entry for entry, _ in request.stored)

    def add_anchor(self, anchor: Entry, kept: Sequence[str] = ()) -> Entry:
        if anchor.entry_type not in ANCHORS:
            raise BadInput(f"'{anchor.entry_type}' is not an anchor type")
        numbers = {entry.id: entry.sequence for entry in self.window()}
        if unknown := [key for key in kept if key not in numbers]:
            raise BadInput(f"the entry '{unknown[0]}' is not in the window")
        if kept:
            since = min(numbers[key] for key in kept)
            anchor = anchor._replace(metadata={**anchor.metadata, KEPT_IDS_KEY: list(kept), KEPT_SINCE_KEY: since})
        return self.append([anchor])[0]

    def clear(self) -> Entry | None:
        if all(entry.entry_type in ANCHORS for entry in self.window()):
            return None
        return self.add_anchor(self._system_entry(ARCHIVAL, "history archived"))

    def update_meta(self, update: Callable[[ConversationMeta], ConversationMeta]) -> ConversationMeta:
        with self._lock:
            self._lease.check()
            old = self._meta
            new = update(old)
            new = new._replace(id=old.id, name=old.name, extra={**old.extra, **new.extra})
            if new != old:
                with disk_errors(f"writing '{self._paths.meta}'"):
                    self._paths.save_meta(new)
            self._meta = new
            return new

    def write_note(self, name: str, text: str) -> None:
        path = self._paths.note(name)
        with self._lock:
            self._check_writable()
            with disk_errors(f"writing '{path}'"):
                make_private_folder(os.path.dirname(path))
                if text:
                    write_atomic(path, text.encode("utf-8", "replace"))
                else:
                    remove_if_exists(path)
        if name == "system_prompt":
            self.record_prompt(text)

    def assign_id(self, key: str, created_ms: int) -> None:
        """Give a conversation of another program an id."""
        with self._lock, disk_errors(f"writing '{self._paths.meta}'"):
            self._lease.check()
            self._meta = self._meta._replace(id=key, created_ms=created_ms)
            self._paths.save_meta(self._meta)
            first, *rest = self._window.entries
            self._window.replace(with_initial_anchor(rest if not first.sequence else [first, *rest], self._meta))

    def record_prompt(self, text: str) -> None:
        """Append the new system prompt to the transcript, and save the time of its file."""
        self.append([self._system_entry(SYSTEM_PROMPT_CHANGED, text)])
        self.update_meta(lambda known: known._replace(extra={**known.extra, _PROMPT_MTIME_KEY: self._prompt_mtime()}))

    def record_edited_prompt(self) -> None:
        """Record the system prompt if its file was edited."""
        now = self._prompt_mtime()
        if now is not None and now != self._meta.extra.get(_PROMPT_MTIME_KEY) and not self._meta.archived_ms:
            self.record_prompt(self.read_note("system_prompt"))

    def close(self) -> None:
        if not self._lease.is_ours:
            # A forked child: the lock may be held by a thread that does not exist here, and the files are the parent's.
            self.abandon()
            return
        with self._lock:
            try:
                self._lease.check()
            except Unavailable:
                self.abandon()
                return
            last_ms = self._window.entries[-1].time_ms
            with suppress(MaridError):
                self.update_meta(lambda known: known._replace(last_message_ms=max(last_ms, known.last_message_ms)))
            self._active.close()
            self._window.flush()
            self._on_close()
            self.abandon()

    def abandon(self) -> None:
        """Close without writing anything."""
        self._active.abandon()
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _system_entry(self, entry_type: str, content: str) -> Entry:
        return Entry(entry_type=entry_type, content=content, sender=SYSTEM, to=self._paths.name, role=SYSTEM)

    def _snapshot(self) -> TranscriptSnapshot:
        with self._lock:
            self._lease.check()
            return TranscriptSnapshot(self._paths, self._manifest, self._active.read(), self._add_problem)

    def _prompt_mtime(self) -> int | None:
        try:
            return int(os.stat(self._paths.note("system_prompt")).st_mtime)
        except OSError:
            return None

    def _check_writable(self) -> None:
        self._lease.check()
        if self._meta.archived_ms:
            raise ConversationArchived(self._paths.name)

    def _recover(self) -> list[Entry]:
        """Repair, count and save the manifest if it has changed; the entries of the window. Raises: OSError."""
        # Without the lease another process may be writing what this would repair.
        self._lease.check()
        first = first_sequence(self._paths, self._active.read())
        self._manifest, is_saved = partitions.survey(self._paths, self._storage, first)
        if not is_saved or not partitions.has_all_filters(self._paths, self._storage, self._manifest):
            self._manifest = partitions.save_survey(self._paths, self._storage, self._manifest)
        data = self._active.count_entries(self._manifest.last_sequence)
        found = [*partitions.unreadable_lines(self._paths, self._manifest), *self._active.problems]
        if self._active.torn_bytes:
            torn = f"{self._active.torn_bytes} bytes of an interrupted write were moved"
            found.append(f"{torn} to '{self._paths.active}.torn'")
        self._problems |= dict.fromkeys(found)
        self._stale = False
        tally = self._active.tally
        snapshot = TranscriptSnapshot(self._paths, self._manifest, data, self._add_problem)
        if tally.anchor < 0:
            return snapshot.window()
        lines = entry_lines.parse_lines(data, start=tally.anchor, before=tally.before)
        return snapshot.window_since([line.entry for line in lines])

    def _commit(self, requests: Sequence[_AppendRequest]) -> None:
        with self._lock:
            try:
                with disk_errors(f"storing in '{self._paths.name}'"):
                    self._check_writable()
                    if self._stale or self._active.is_changed():
                        self._reload()
                    self._store(requests)
            except MaridError as error:
                for request in requests:
                    if not request.is_stored:
                        request.error = request.error or error  # raised by the waiting thread

    def _reload(self) -> None:
        """Read the files again. Raises: OSError; Corrupt if entries are missing."""
        known, self._stale = self._active.tally, True
        self._active.abandon()
        self._active = ActivePartition(self._paths, self._storage, known.last)
        self._window.replace(with_initial_anchor(self._recover(), self._meta))
        if self._active.tally.last < known.last:
            raise Corrupt(f"'{self._paths.active}' lost entries while it was in use; nothing was stored")

    def _store(self, requests: Sequence[_AppendRequest]) -> None:
        last, ready = self._active.tally.last, list[_AppendRequest]()
        for request in requests:
            try:
                last = request.assign_numbers(last)
                ready.append(request)
            except MaridError as error:
                request.error = error
        stored = [pair for request in ready for pair in request.stored]
        if stored:
            self._active.append_entries(stored)
        for request in ready:
            request.is_stored = True
        if stored:
            self._update_window(ready, stored)
            if self._active.is_full(self._clock()):
                self._rotate()

    def _update_window(self, ready: Sequence[_AppendRequest], stored: Sequence[tuple[Entry, bytes]]) -> None:
        entries = [entry for entry, _ in stored]
        types = [entry.entry_type for entry in entries]
        if _NOT_APPENDED_PLAINLY.isdisjoint(types):
            self._window.add(entries, b"".join([request.window_lines() for request in ready]))
        elif ANCHORS.isdisjoint(types):
            shown = [entry for entry in entries if entry.entry_type not in NEVER_IN_WINDOW]
            self._window.add(shown, b"".join(map(encode_line, shown)))
        else:
            entries = [*self._window.entries, *entries]
            at = max(index for index, entry in enumerate(entries) if entry.entry_type in ANCHORS)
            self._stale = True  # until the window is replaced: reading what the anchor kept may fail
            self._window.replace(self._snapshot().window_since(entries[at:], entries[:at]))
            self._stale = False

    def _rotate(self) -> None:
        """Start a new partition. An error loses nothing: everything is read again before the next append."""
        self._stale = True
        try:
            data = self._active.prepare_sealing()
            self._manifest = partitions.seal(self._paths, self._storage, self._manifest, data)
            self._active = self._active.start_next()
        except OSError as error:
            self._add_problem(f"a new partition could not be started: {error.strerror}")
            return
        self._stale = False
