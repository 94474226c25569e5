"""Which partitions a transcript has, in order. Derived: whatever is wrong with it, it is made anew from the files."""

import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NotRequired, TypedDict, cast, overload

from marid.adapters.store.atomic_files import parse_object, pretty_json, read_bytes, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.records import Corrupt, StorageSettings

VERSION = 1
MANIFEST_FILE = "manifest.json"
_NUMBER_FIELDS = ("start_ts", "end_ts", "entry_count", "token_count", "first_sequence", "last_sequence")
_BEGIN = b',\n  "partitions": [\n'
_END = b"\n  ]\n}\n"
_FOLDER = "partitions"
_REQUIRED_NUMBERS = (*_NUMBER_FIELDS, "anchor_sequence", "size")
_NOTHING: Mapping[str, object] = MappingProxyType({})
_POLICY = "rotation_policy"
_LIMITS = ("max_entries", "max_age_seconds", "max_tokens")
_FILTERS = "filter_sizes"


class PartitionRow(TypedDict):
    """One partition; the last anchor in it has `anchor_sequence`, 0 when there is none; these lines cannot be read.

    One without entries has the number before its place as `last_sequence`. Others' fields survive.
    """

    file: str
    start_ts: int
    end_ts: int
    entry_count: int
    token_count: int
    first_sequence: int
    last_sequence: int
    anchor_sequence: int
    size: int
    unreadable: NotRequired[list[int]]


class PartitionRows(Sequence[PartitionRow]):
    """Rows as the lines that they were written as, each parsed when it is wanted: an opening wants the last few."""

    def __init__(self, written: list[bytes]) -> None:
        self.encoded_rows = written

    def __len__(self) -> int:
        return len(self.encoded_rows)

    @overload
    def __getitem__(self, index: int) -> PartitionRow: ...

    @overload
    def __getitem__(self, index: slice) -> "PartitionRows": ...

    def __getitem__(self, index: int | slice) -> "PartitionRow | PartitionRows":
        """A row, or some of them."""
        if isinstance(index, slice):
            return PartitionRows(self.encoded_rows[index])
        return _decode_row(self.encoded_rows[index])

    def with_unreadable_lines(self) -> "PartitionRows":
        """Those of partitions in which there are lines that cannot be read; no other row is parsed for it."""
        return PartitionRows([written for written in self.encoded_rows if b'"unreadable"' in written])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionRows) and self.encoded_rows == other.encoded_rows

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _decode_row(written: bytes) -> PartitionRow:
    """Raises: Corrupt when it is no row, or one that leads elsewhere: a check sum tells damage, not intent."""
    row = parse_object(written)
    if row is None or not _is_row(row):
        raise Corrupt("a manifest.json names what is no partition; remove that file, and it is made anew")
    return cast("PartitionRow", row)


def encode_rows(rows: Iterable[PartitionRow]) -> PartitionRows:
    """Those rows."""
    return PartitionRows([json.dumps(row).encode() for row in rows])


class Manifest(NamedTuple):
    """`stamp` is that of the partitions' folder when it was last looked through; 0 when we have not done so.

    `filters` are the sizes of the filters' files when each partition had its filter.
    """

    rows: PartitionRows = PartitionRows([])
    stamp: int = 0
    filters: tuple[int, ...] = ()
    # What rows that we have not written, or not so, say besides the numbers, in their order.
    foreign_rows: Mapping[str, Mapping[str, object]] = MappingProxyType({})
    extra: Mapping[str, object] = _NOTHING


def load(paths: ConversationPaths) -> Manifest:
    """What the file says as far as it makes sense. Raises: OSError."""
    data = read_bytes(paths.transcript_file(MANIFEST_FILE)) or b""
    head, _, block = data.partition(_BEGIN)
    found = parse_object(head + b"\n}") if block else None
    if found and found.pop("rows_crc", None) == zlib.crc32(block) and found.get("version") == VERSION:
        stamp, filters = found.pop("stamp", 0), _int_tuple(found.pop(_FILTERS, None))
        if type(stamp) is int:
            return Manifest(
                PartitionRows(_split_rows(block.removesuffix(_END))), stamp, filters, extra=_foreign_fields(found)
            )
    return _load_foreign(parse_object(data))


def _load_foreign(found: dict[str, object] | None) -> Manifest:
    """What a file that we have not written, or not so, says: no number in it counts."""
    rows = found.pop("partitions", None) if found else None
    if found is None or not isinstance(rows, list) or found.get("version") != VERSION:
        return Manifest()
    found.pop("stamp", None)
    known = [cast("dict[str, object]", row) for row in cast("list[object]", rows) if isinstance(row, dict)]
    return Manifest(
        foreign_rows={str(row.get("file", "")): foreign_row_fields(row) for row in known}, extra=_foreign_fields(found)
    )


def save(paths: ConversationPaths, manifest: Manifest, storage: StorageSettings) -> None:
    """Write it whole. Raises: OSError."""
    limits = (storage.partition_max_entries, storage.partition_max_age_seconds, storage.partition_max_tokens)
    policy = dict(zip(_LIMITS, limits, strict=True))
    whole: dict[str, object] = {"version": VERSION, "active_partition": os.path.basename(paths.active)}
    block = b",\n".join(manifest.rows.encoded_rows) + _END
    whole |= {"stamp": manifest.stamp, _FILTERS: manifest.filters, "rows_crc": zlib.crc32(block), **manifest.extra}
    theirs = manifest.extra.get(_POLICY)
    whole[_POLICY] = {**cast("dict[str, object]", theirs), **policy} if isinstance(theirs, dict) else policy
    write_atomic(paths.transcript_file(MANIFEST_FILE), pretty_json(whole)[:-3] + _BEGIN + block)


def folder_stamp(paths: ConversationPaths) -> int:
    """Changes whenever a partition comes or goes; 0 without a folder. Raises: OSError."""
    try:
        return os.stat(paths.partitions).st_mtime_ns
    except FileNotFoundError:
        return 0


def _split_rows(block: bytes) -> list[bytes]:
    return block.split(b",\n") if block else []


def foreign_row_fields(row: Mapping[str, object]) -> dict[str, object]:
    """The fields of a row that somebody else has put there."""
    return {name: value for name, value in row.items() if name not in PartitionRow.__annotations__}


def _foreign_fields(found: dict[str, object]) -> dict[str, object]:
    ours = ("version", "active_partition", _POLICY, _FILTERS, "rows_crc")
    rest = {name: value for name, value in found.items() if name not in ours}
    if isinstance(policy := found.get(_POLICY), dict):
        theirs = {name: value for name, value in cast("dict[str, object]", policy).items() if name not in _LIMITS}
        rest |= {_POLICY: theirs} if theirs else {}
    return rest


def _int_tuple(value: object) -> tuple[int, ...]:
    sizes = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(size for size in sizes if type(size) is int)


def _is_row(row: dict[str, object]) -> bool:
    file = row.get("file")
    return (
        isinstance(file, str)
        and _is_partition_path(file)
        and all(type(row.get(name)) is int for name in _REQUIRED_NUMBERS)
    )


def _is_partition_path(file: str) -> bool:
    """Whether it lies where partitions lie, and nowhere else."""
    folder, name = os.path.split(file)
    return folder == _FOLDER and name.endswith(".jsonl") and "\0" not in name
