"""Which partitions a transcript has, in order. Derived: whatever is wrong with it, it is made anew from the files."""

import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict, cast, overload

from marid.adapters.store.files import as_object, pretty, read_bytes, write_whole
from marid.adapters.store.layout import Place
from marid.core.conversation import Storage

VERSION = 1
FILE = "manifest.json"
_NUMBERS = ("start_ts", "end_ts", "entry_count", "token_count", "first_sequence", "last_sequence")
_BEGIN = b',\n  "partitions": [\n'
_END = b"\n  ]\n}\n"
_OURS = (*_NUMBERS, "anchor_sequence", "size")


class Row(TypedDict):
    """One partition; the last anchor in it has `anchor_sequence`, 0 when there is none. Others' fields survive."""

    file: str
    start_ts: int
    end_ts: int
    entry_count: int
    token_count: int
    first_sequence: int
    last_sequence: int
    anchor_sequence: int
    size: int


class Rows(Sequence[Row]):
    """Rows as the lines that they were written as, each parsed when it is wanted: an opening wants the last few."""

    def __init__(self, written: list[bytes]) -> None:
        self.written = written

    def __len__(self) -> int:
        return len(self.written)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> "Rows": ...

    def __getitem__(self, index: int | slice) -> "Row | Rows":
        """A row, or some of them."""
        if isinstance(index, slice):
            return Rows(self.written[index])
        return cast("Row", json.loads(self.written[index]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self.written == other.written

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def rows_of(rows: Iterable[Row]) -> Rows:
    """Those rows."""
    return Rows([json.dumps(row).encode() for row in rows])


class Manifest(NamedTuple):
    """`stamp` is that of the partitions' folder when it was last looked through; 0 when we have not done so."""

    rows: Rows = Rows([])
    stamp: int = 0
    # The order in which another program lists its partitions, whose rows lack what ours have.
    listed: Sequence[str] = ()
    extra: Mapping[str, object] = {}


def load(place: Place) -> Manifest:
    """What the file says as far as it makes sense. Raises: OSError."""
    data = read_bytes(place.transcript(FILE)) or b""
    head, _, block = data.partition(_BEGIN)
    found = as_object(head + b"\n}") if block else None
    if found and found.pop("rows_crc", None) == zlib.crc32(block) and found.get("version") == VERSION:
        stamp = found.pop("stamp", 0)
        if type(stamp) is int:
            return Manifest(Rows(_split(block.removesuffix(_END))), stamp, extra=_others(found))
    return _doubted(as_object(data))


def _doubted(found: dict[str, object] | None) -> Manifest:
    """What a file that we have not written, or not so, says."""
    rows = found.pop("partitions", None) if found else None
    if found is None or not isinstance(rows, list) or found.get("version") != VERSION:
        return Manifest()
    stamp = found.pop("stamp", 0)
    found = _others(found)
    known = [cast("dict[str, object]", row) for row in cast("list[object]", rows) if isinstance(row, dict)]
    if type(stamp) is int and stamp and all(map(_is_row, known)) and len(known) == len(cast("list[object]", rows)):
        return Manifest(rows=rows_of(cast("list[Row]", known)), stamp=stamp, extra=found)
    return Manifest(listed=[str(row.get("file", "")) for row in known], extra=found)


def save(place: Place, manifest: Manifest, storage: Storage) -> None:
    """Write it whole. Raises: OSError."""
    policy = {
        "max_entries": storage.partition_max_entries,
        "max_age_seconds": storage.partition_max_age_seconds,
        "max_tokens": storage.partition_max_tokens,
    }
    whole: dict[str, object] = {"version": VERSION, "active_partition": os.path.basename(place.active)}
    block = b",\n".join(manifest.rows.written) + _END
    whole |= {"rotation_policy": policy, "stamp": manifest.stamp, "rows_crc": zlib.crc32(block), **manifest.extra}
    write_whole(place.transcript(FILE), pretty(whole)[:-3] + _BEGIN + block)


def stamp_of(place: Place) -> int:
    """Changes whenever a partition comes or goes; 0 without a folder. Raises: OSError."""
    try:
        return os.stat(place.partitions).st_mtime_ns
    except FileNotFoundError:
        return 0


def _split(block: bytes) -> list[bytes]:
    return block.split(b",\n") if block else []


def _others(found: dict[str, object]) -> dict[str, object]:
    ours = ("version", "active_partition", "rotation_policy", "rows_crc")
    return {name: value for name, value in found.items() if name not in ours}


def _is_row(row: dict[str, object]) -> bool:
    return isinstance(row.get("file"), str) and all(type(row.get(name)) is int for name in _OURS)
