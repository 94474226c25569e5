"""The partition that is appended to, and what is known of it without reading it again."""

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from marid.adapters.store.entries import lines, numbering, tokens, unreadable
from marid.adapters.store.files import as_object, pretty, read_bytes, remove, write_whole
from marid.adapters.store.journal import Journal
from marid.adapters.store.layout import Place
from marid.core.conversation import Storage
from marid.core.entry import ANCHORS, Entry

MARK = "active.mark"


class Tally(NamedTuple):
    """How much is in the file.

    `last` is the number of the last entry, `anchor` where the last anchor begins, `before` the number before it.
    """

    last: int
    held: int = 0
    tokens: int = 0
    first_ts: int = 0
    anchor: int = -1
    before: int = 0

    def and_these(self, lines: Iterable[tuple[Entry, int]], bytes_per_token: int) -> "Tally":
        """With more entries, whose lines begin there."""
        last, held, size, first_ts, anchor, before = self
        for entry, start in lines:
            if entry.entry_type in ANCHORS:
                anchor, before = start, last
            if not held:
                first_ts = entry.timestamp
            last = entry.sequence
            held += 1
            size += tokens(entry, bytes_per_token)
        return Tally(last, held, size, first_ts, anchor, before)


def first_number(place: Place, data: bytes) -> int:
    """The number that the first entry of the file says it has, whose content is `data`. Without any, the number that it
    will have by what the last holder noted; 0 when nobody knows.
    """
    for line in lines(data):
        return line.entry.sequence
    noted = as_object(read_bytes(place.transcript(MARK)) or b"") or {}
    last = noted.get("last")
    return last + 1 if not data and noted.get("size") == 0 and type(last) is int else 0


class Active:
    """One file at a time. Only the holder of the lease has one. All methods raise OSError."""

    def __init__(self, place: Place, storage: Storage) -> None:
        self._place = place
        self._storage = storage
        self._journal = Journal(place.active)
        self._counted = False
        self.tally = Tally(0)
        self._bad: list[int] = []

    @property
    def problems(self) -> list[str]:
        """Lines that cannot be read, whoever has found them first."""
        return [unreadable(self._place.active, number) for number in self._bad]

    @property
    def torn(self) -> int:
        """How many bytes of an interrupted write were put aside at the opening."""
        return self._journal.torn

    def is_changed(self) -> bool:
        """Whether somebody else has replaced or written the file."""
        return self._journal.is_changed()

    def read(self, start: int = 0) -> bytes:
        """What is there from an offset on."""
        return self._journal.read(start)

    def take_stock(self, sealed: int) -> bytes:
        """Count what is there, after partitions that end with number `sealed`: the whole content."""
        data = self._journal.read()
        start, self.tally, self._bad = self._marked(data, sealed)
        found = lines(data, start=start, before=self.tally.last, on_bad=numbering(data, self._bad.append))
        self.tally = self.tally.and_these(((line.entry, line.start) for line in found), self._storage.bytes_per_token)
        self._counted = True
        return data

    def append(self, entries: Sequence[tuple[Entry, bytes]]) -> None:
        """Store lines for good, or none of them."""
        at, starts = self._journal.size, list[tuple[Entry, int]]()
        for entry, line in entries:
            starts.append((entry, at))
            at += len(line)
        tally = self.tally.and_these(starts, self._storage.bytes_per_token)
        self._journal.append(b"".join([line for _, line in entries]))
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
        self._journal.trim()

    def forget_note(self) -> None:
        """What was noted counts no more: a crash from here on is to find nothing that it could believe."""
        remove(self._place.transcript(MARK))

    def renew(self) -> None:
        """Begin an empty file: the old one has become a partition."""
        self._journal.close()
        self._journal = Journal(self._place.active)
        self.tally, self._bad = Tally(self.tally.last), []
        if self._journal.size:
            raise FileExistsError(17, "there is a new active partition already", self._place.active)

    def close(self) -> None:
        """Let go, and note what is known for the next opening; a note that cannot be written only costs time."""
        with suppress(OSError):
            if self._counted and not self.is_changed():
                self._note()
        self._journal.close()

    def let_go(self) -> None:
        """Leave the file as it is."""
        self._journal.let_go()

    def _note(self) -> None:
        data = self._journal.read()
        mark = {"size": len(data), "crc": zlib.crc32(data), "bytes_per_token": self._storage.bytes_per_token}
        noted = {**mark, **self.tally._asdict(), "unreadable": self._bad}
        write_whole(self._place.transcript(MARK), pretty(noted), durable=False)

    def _marked(self, data: bytes, sealed: int) -> tuple[int, Tally, list[int]]:
        """What the last holder noted, if that is still what the file begins with."""
        nothing = 0, Tally(sealed), list[int]()
        found = as_object(read_bytes(self._place.transcript(MARK)) or b"")
        if not found:
            return nothing
        numbers = {name: value for name, value in found.items() if type(value) is int}
        size = numbers.pop("size", -1)
        if not 0 <= size <= len(data) or numbers.pop("crc", -1) != zlib.crc32(data[:size]):
            return nothing
        if numbers.pop("bytes_per_token", -1) != self._storage.bytes_per_token or set(numbers) != set(Tally._fields):
            return nothing
        tally, bad = Tally(**numbers), found.get("unreadable")
        if tally.last - tally.held != sealed or not isinstance(bad, list):
            return nothing
        return size, tally, [number for number in cast("list[object]", bad) if type(number) is int]
