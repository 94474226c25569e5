"""The files that an open conversation appends to: the active partition, and the window for other programs."""

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from marid.adapters.store import entry_lines, files
from marid.adapters.store.append_log import AppendLog
from marid.adapters.store.entry_lines import encode_line, parse_lines
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import ANCHORS, Entry
from marid.core.conversation.records import StorageSettings

MARK_FILE = "active.mark"
# Appends after which the window file is written.
_MAX_PENDING = 64


class PartitionTally(NamedTuple):
    """What is in the file: `anchor` is the offset of the last anchor, `before` the number of the entry before it."""

    last: int
    entry_count: int = 0
    tokens: int = 0
    first_ts: int = 0
    anchor: int = -1
    before: int = 0

    def with_entries(self, lines: Iterable[tuple[Entry, int]], bytes_per_token: int) -> "PartitionTally":
        """The tally after more entries, given with their offsets."""
        last, entry_count, tokens, first_ts, anchor, before = self
        for entry, start in lines:
            if entry.entry_type in ANCHORS:
                anchor, before = start, last
            if not entry_count:
                first_ts = entry.time_ms // 1000
            last = entry.sequence
            entry_count += 1
            tokens += entry_lines.entry_tokens(entry, bytes_per_token)
        return PartitionTally(last, entry_count, tokens, first_ts, anchor, before)


def first_sequence(paths: ConversationPaths, data: bytes) -> int:
    """The number of an active file's first entry; of an empty file, the one that its last holder has noted, else 0."""
    for line in parse_lines(data):
        return line.entry.sequence
    mark = files.parse_object(files.read_bytes(paths.transcript_file(MARK_FILE))) or {}
    last = mark.get("last")
    return last + 1 if not data and mark.get("size") == 0 and type(last) is int else 0


class ActivePartition(AppendLog):
    """Only the holder of the lease has one. All methods raise OSError."""

    def __init__(self, paths: ConversationPaths, storage: StorageSettings, last: int = 0) -> None:
        super().__init__(paths.active)
        self._paths = paths
        self._mark_path = paths.transcript_file(MARK_FILE)
        self._storage = storage
        self._is_counted = False
        self._bad_lines: list[int] = []
        self.tally = PartitionTally(last)

    @property
    def problems(self) -> list[str]:
        """Notes about lines that cannot be read."""
        return [entry_lines.unreadable_message(self._path, number) for number in self._bad_lines]

    def count_entries(self, sealed: int) -> bytes:
        """Count the entries, which follow number `sealed`, and return the whole content."""
        data = self.read()
        start, self.tally, self._bad_lines = self._load_mark(data, sealed)
        on_bad = entry_lines.number_bad_lines(data, self._bad_lines.append)
        lines = parse_lines(data, start=start, before=self.tally.last, on_bad=on_bad)
        starts = ((line.entry, line.start) for line in lines)
        self.tally = self.tally.with_entries(starts, self._storage.bytes_per_token)
        self._is_counted = True
        return data

    def append_entries(self, entries: Sequence[tuple[Entry, bytes]]) -> None:
        """Store all of the encoded entries or none."""
        at, starts = self.size, list[tuple[Entry, int]]()
        for entry, line in entries:
            starts.append((entry, at))
            at += len(line)
        tally = self.tally.with_entries(starts, self._storage.bytes_per_token)
        self.append(b"".join([line for _, line in entries]))
        self.tally = tally

    def is_full(self, now: float) -> bool:
        """Whether it is time for a new partition by the current settings."""
        # abs: a clock that was ahead and was set right is a reason too.
        age = abs(now - self.tally.first_ts) if self.tally.first_ts > 0 else 0
        return self.tally.entry_count > 0 and (
            self.tally.entry_count >= self._storage.partition_max_entries
            or self.tally.tokens >= self._storage.partition_max_tokens
            or age >= self._storage.partition_max_age_seconds
        )

    def prepare_sealing(self) -> bytes:
        """The content to seal. The mark is removed first, so that no opening after a crash uses it."""
        files.remove_if_exists(self._mark_path)
        self.trim()
        return self.read()

    def start_next(self) -> "ActivePartition":
        """Close this file, which has become a sealed partition, and create the next one."""
        self.abandon()
        following = ActivePartition(self._paths, self._storage, self.tally.last)
        following._is_counted = self._is_counted
        if following.size:
            following.abandon()
            raise FileExistsError(17, "there is a new active partition already", self._path)
        return following

    def close(self) -> None:
        """Save the tally for the next opening, which takes longer without it, and close the file."""
        with suppress(OSError):
            if self._is_counted and not self.is_changed():
                data = self.read()
                mark = {"size": len(data), "crc": zlib.crc32(data), "bytes_per_token": self._storage.bytes_per_token}
                whole = {**mark, **self.tally._asdict(), "unreadable": self._bad_lines}
                files.write_atomic(self._mark_path, files.pretty_json(whole), durable=False)
        super().close()

    def _load_mark(self, data: bytes, sealed: int) -> tuple[int, PartitionTally, list[int]]:
        """How much of `data` the saved tally covers, and the tally; nothing if the file has changed there."""
        mark = files.parse_object(files.read_bytes(self._mark_path)) or {}
        numbers = {name: value for name, value in mark.items() if type(value) is int}
        size, crc, divisor = (numbers.pop(name, -1) for name in ("size", "crc", "bytes_per_token"))
        is_known = set(numbers) == set(PartitionTally._fields) and isinstance(mark.get("unreadable"), list)
        if is_known and 0 <= size <= len(data) and crc == zlib.crc32(data[:size]):
            tally = PartitionTally(**numbers)
            if divisor == self._storage.bytes_per_token and tally.last - tally.entry_count == sealed:
                return size, tally, files.integers(mark["unreadable"])
        return 0, PartitionTally(sealed), []


class WindowFile:
    """`context.jsonl`: the window, derived and never synced. Only the holder of the lease writes it, and only after
    `start`: before that, the file of another program may be the only copy of a conversation. Disk errors are ignored,
    since the next opening repairs the file.
    """

    def __init__(self, paths: ConversationPaths, entries: Sequence[Entry]) -> None:
        self._paths = paths
        self._is_started = False
        self._size = -1  # of the file, without what is pending; -1 if it has another window
        self._pending: list[bytes] = []
        self.entries = list(entries)

    def start(self) -> None:
        """The transcript is complete: bring the file up to date, and keep it so."""
        self._is_started = True
        self._pending.clear()
        with suppress(OSError):
            data = files.read_bytes(self._paths.window)
            self._size = len(data) if data is not None and data == self._encoded_window() else -1
            self.flush()
            files.remove_if_exists(self._paths.file(".dirty"))

    def add(self, added: Sequence[Entry], data: bytes) -> None:
        """Add entries, encoded as `data`. The file is written later, so that appends do not wait for it."""
        self.entries += added
        self._pending.append(data)
        if len(self._pending) >= _MAX_PENDING:
            self.flush()

    def replace(self, entries: Sequence[Entry]) -> None:
        """Start another window, as after an anchor."""
        self.entries = list(entries)
        self._size = -1
        self.flush()

    def flush(self) -> None:
        """Bring the file up to date."""
        if not self._is_started:
            return
        size, self._size = self._size, -1
        data = b"".join(self._pending)
        self._pending.clear()
        with suppress(OSError):
            if size < 0 or size != files.file_size(self._paths.window):
                data, size = self._encoded_window(), 0
                files.write_atomic(self._paths.window, data, durable=False)
            elif data:
                files.append_bytes(self._paths.window, data)
            self._size = size + len(data)

    def _encoded_window(self) -> bytes:
        return b"".join(encode_line(entry) for entry in self.entries)
