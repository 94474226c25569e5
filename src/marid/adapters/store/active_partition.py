"""The partition that is appended to, and what is known of it without reading it again."""

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from marid.adapters.store.append_log import AppendLog
from marid.adapters.store.atomic_files import parse_object, pretty_json, read_bytes, remove_if_exists, write_atomic
from marid.adapters.store.entry_lines import entry_tokens, number_bad_lines, parse_lines, unreadable_message
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import ANCHORS, Entry
from marid.core.conversation.records import StorageSettings

MARK_FILE = "active.mark"


class PartitionTally(NamedTuple):
    """How much is in the file.

    `last` is the number of the last entry, `anchor` where the last anchor begins, `before` the number before it.
    """

    last: int
    held: int = 0
    tokens: int = 0
    first_ts: int = 0
    anchor: int = -1
    before: int = 0

    def with_entries(self, lines: Iterable[tuple[Entry, int]], bytes_per_token: int) -> "PartitionTally":
        """With more entries, whose lines begin there."""
        last, held, size, first_ts, anchor, before = self
        for entry, start in lines:
            if entry.entry_type in ANCHORS:
                anchor, before = start, last
            if not held:
                first_ts = entry.timestamp
            last = entry.sequence
            held += 1
            size += entry_tokens(entry, bytes_per_token)
        return PartitionTally(last, held, size, first_ts, anchor, before)


def first_sequence(paths: ConversationPaths, data: bytes) -> int:
    """The number that the first entry of the file says it has, whose content is `data`. Without any, the number that it
    will have by what the last holder noted; 0 when nobody knows.
    """
    for line in parse_lines(data):
        return line.entry.sequence
    noted = parse_object(read_bytes(paths.transcript_file(MARK_FILE)) or b"") or {}
    last = noted.get("last")
    return last + 1 if not data and noted.get("size") == 0 and type(last) is int else 0


class ActivePartition:
    """One file at a time. Only the holder of the lease has one. All methods raise OSError."""

    def __init__(self, paths: ConversationPaths, storage: StorageSettings) -> None:
        self._paths = paths
        self._storage = storage
        self._log = AppendLog(paths.active)
        self._is_counted = False
        self.tally = PartitionTally(0)
        self._bad: list[int] = []

    @property
    def problems(self) -> list[str]:
        """Lines that cannot be read, whoever has found them first."""
        return [unreadable_message(self._paths.active, number) for number in self._bad]

    @property
    def torn_bytes(self) -> int:
        """How many bytes of an interrupted write were put aside at the opening."""
        return self._log.torn_bytes

    def is_changed(self) -> bool:
        """Whether somebody else has replaced or written the file."""
        return self._log.is_changed()

    def read(self, start: int = 0) -> bytes:
        """What is there from an offset on."""
        return self._log.read(start)

    def count_entries(self, sealed: int) -> bytes:
        """Count what is there, after partitions that end with number `sealed`: the whole content."""
        data = self._log.read()
        start, self.tally, self._bad = self._load_mark(data, sealed)
        found = parse_lines(data, start=start, before=self.tally.last, on_bad=number_bad_lines(data, self._bad.append))
        self.tally = self.tally.with_entries(
            ((line.entry, line.start) for line in found), self._storage.bytes_per_token
        )
        self._is_counted = True
        return data

    def append(self, entries: Sequence[tuple[Entry, bytes]]) -> None:
        """Store lines for good, or none of them."""
        at, starts = self._log.size, list[tuple[Entry, int]]()
        for entry, line in entries:
            starts.append((entry, at))
            at += len(line)
        tally = self.tally.with_entries(starts, self._storage.bytes_per_token)
        self._log.append(b"".join([line for _, line in entries]))
        self.tally = tally

    def is_full(self, now: float) -> bool:
        """Whether it is time for a new partition, by the settings of now."""
        # A clock that was ahead and has been set right is as good a reason as one that has moved on.
        age = abs(now - self.tally.first_ts) if self.tally.first_ts > 0 else 0
        return self.tally.held > 0 and (
            self.tally.held >= self._storage.partition_max_entries
            or self.tally.tokens >= self._storage.partition_max_tokens
            or age >= self._storage.partition_max_age_seconds
        )

    def trim(self) -> None:
        """Make the file as long as what is in it."""
        self._log.trim()

    def delete_mark(self) -> None:
        """What was noted counts no more: a crash from here on is to find nothing that it could believe."""
        remove_if_exists(self._paths.transcript_file(MARK_FILE))

    def start_new(self) -> None:
        """Begin an empty file: the old one has become a partition."""
        self._log.close()
        self._log = AppendLog(self._paths.active)
        self.tally, self._bad = PartitionTally(self.tally.last), []
        if self._log.size:
            raise FileExistsError(17, "there is a new active partition already", self._paths.active)

    def close(self) -> None:
        """Let go, and note what is known for the next opening; a note that cannot be written only costs time."""
        with suppress(OSError):
            if self._is_counted and not self.is_changed():
                self._save_mark()
        self._log.close()

    def abandon(self) -> None:
        """Leave the file as it is."""
        self._log.abandon()

    def _save_mark(self) -> None:
        data = self._log.read()
        mark = {"size": len(data), "crc": zlib.crc32(data), "bytes_per_token": self._storage.bytes_per_token}
        noted = {**mark, **self.tally._asdict(), "unreadable": self._bad}
        write_atomic(self._paths.transcript_file(MARK_FILE), pretty_json(noted), durable=False)

    def _load_mark(self, data: bytes, sealed: int) -> tuple[int, PartitionTally, list[int]]:
        """What the last holder noted, if that is still what the file begins with."""
        nothing = 0, PartitionTally(sealed), list[int]()
        found = parse_object(read_bytes(self._paths.transcript_file(MARK_FILE)) or b"")
        if not found:
            return nothing
        numbers = {name: value for name, value in found.items() if type(value) is int}
        size = numbers.pop("size", -1)
        if not 0 <= size <= len(data) or numbers.pop("crc", -1) != zlib.crc32(data[:size]):
            return nothing
        if numbers.pop("bytes_per_token", -1) != self._storage.bytes_per_token or set(numbers) != set(
            PartitionTally._fields
        ):
            return nothing
        tally, bad = PartitionTally(**numbers), found.get("unreadable")
        if tally.last - tally.held != sealed or not isinstance(bad, list):
            return nothing
        return size, tally, [number for number in cast("list[object]", bad) if type(number) is int]
