"""The partition that is appended to, and what is known of it without reading it again."""

import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from marid.adapters.store.entries import lines, tokens
from marid.adapters.store.files import as_object, pretty, read_bytes, write_whole
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

    def and_one(self, entry: Entry, start: int, bytes_per_token: int) -> "Tally":
        """With one more entry, whose line begins at `start`."""
        anchors = entry.entry_type in ANCHORS
        return Tally(
            last=entry.sequence,
            held=self.held + 1,
            tokens=self.tokens + tokens(entry, bytes_per_token),
            first_ts=self.first_ts if self.held else entry.timestamp,
            anchor=start if anchors else self.anchor,
            before=self.last if anchors else self.before,
        )


class Active:
    """One file at a time. Only the holder of the lease has one. All methods raise OSError."""

    def __init__(self, place: Place, storage: Storage) -> None:
        self._place = place
        self._storage = storage
        self._journal = Journal(place.active)
        self._counted = False
        self.tally = Tally(0)
        self.problems: list[str] = []

    @property
    def torn(self) -> int:
        """How many bytes of an interrupted write were put aside at the opening."""
        return self._journal.torn

    def read(self, start: int = 0) -> bytes:
        """What is there from an offset on."""
        return self._journal.read(start)

    def take_stock(self, sealed: int) -> bytes:
        """Count what is there, after partitions that end with number `sealed`: the whole content."""
        data = self._journal.read()
        start, self.tally = self._marked(data, sealed)

        def bad(at: int) -> None:
            number = data.count(b"\n", 0, at) + 1
            self.problems.append(f"line {number} of '{self._place.active}' cannot be read and is left out")

        for line in lines(data, start=start, before=self.tally.last, on_bad=bad):
            self.tally = self.tally.and_one(line.entry, line.start, self._storage.bytes_per_token)
        self._counted = True
        return data

    def append(self, entries: Iterable[tuple[Entry, bytes]]) -> None:
        """Store lines for good, or none of them."""
        tally, at, parts = self.tally, self._journal.size, list[bytes]()
        for entry, line in entries:
            tally = tally.and_one(entry, at, self._storage.bytes_per_token)
            at += len(line)
            parts.append(line)
        self._journal.append(b"".join(parts))
        self.tally = tally

    def is_full(self, now: float) -> bool:
        """Whether it is time for a new partition, by the settings of now."""
        age = now - self.tally.first_ts if self.tally.first_ts > 0 else 0
        return self.tally.held > 0 and (
            self.tally.held >= self._storage.partition_max_entries
            or self.tally.tokens >= self._storage.partition_max_tokens
            or age >= self._storage.partition_max_age_seconds
        )

    def renew(self) -> None:
        """Begin an empty file: the old one has become a partition."""
        self._journal.close()
        self._journal = Journal(self._place.active)
        self.tally = Tally(self.tally.last)
        if self._journal.size:
            raise FileExistsError(17, "there is a new active partition already", self._place.active)

    def close(self) -> None:
        """Let go, and note what is known for the next opening; a note that cannot be written only costs time."""
        if self._counted:
            self._note()
        self._journal.close()

    def _note(self) -> None:
        with suppress(OSError):
            data = self._journal.read()
            mark = {"size": len(data), "crc": zlib.crc32(data), "bytes_per_token": self._storage.bytes_per_token}
            write_whole(self._place.transcript(MARK), pretty(mark | self.tally._asdict()), durable=False)

    def _marked(self, data: bytes, sealed: int) -> tuple[int, Tally]:
        """What the last holder noted, if that is still what the file begins with."""
        nothing = 0, Tally(sealed)
        found = as_object(read_bytes(self._place.transcript(MARK)) or b"")
        if not found:
            return nothing
        numbers = {name: value for name, value in found.items() if type(value) is int}
        size = numbers.pop("size", -1)
        if not 0 <= size <= len(data) or numbers.pop("crc", -1) != zlib.crc32(data[:size]):
            return nothing
        if numbers.pop("bytes_per_token", -1) != self._storage.bytes_per_token or set(numbers) != set(Tally._fields):
            return nothing
        tally = Tally(**numbers)
        return (size, tally) if tally.last - tally.held == sealed else nothing
