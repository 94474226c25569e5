"""`manifest.json`: the partitions of a transcript, in order. Derived: if anything is wrong, it is built again."""

import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NotRequired, TypedDict, cast, overload

from marid.adapters.store.files import integers, parse_object, pretty_json, read_bytes, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.records import Corrupt, StorageSettings

VERSION = 1
MANIFEST_FILE = "manifest.json"
_NUMBER_FIELDS = (
    *("start_ts", "end_ts", "entry_count", "token_count", "first_sequence", "last_sequence"),
    *("anchor_sequence", "size"),
)
_BEGIN = b',\n  "partitions": [\n'
_END = b"\n  ]\n}\n"
_NOTHING: Mapping[str, object] = MappingProxyType({})
_POLICY = "rotation_policy"
_LIMITS = ("max_entries", "max_age_seconds", "max_tokens")
_FILTERS = "filter_sizes"


class PartitionRow(TypedDict):
    """One partition. `anchor_sequence` is the number of its last anchor, or 0; `unreadable` are numbers of lines.

    Without entries `last_sequence` is the last number before the partition. Fields of other programs are preserved.
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
    """Encoded rows, parsed on access: opening a conversation needs only the last few."""

    def __init__(self, written: list[bytes]) -> None:
        self.encoded_rows = written

    def __len__(self) -> int:
        return len(self.encoded_rows)

    @overload
    def __getitem__(self, index: int) -> PartitionRow: ...

    @overload
    def __getitem__(self, index: slice) -> "PartitionRows": ...

    def __getitem__(self, index: int | slice) -> "PartitionRow | PartitionRows":
        if isinstance(index, slice):
            return PartitionRows(self.encoded_rows[index])
        return _decode_row(self.encoded_rows[index])

    @property
    def last_sequence(self) -> int:
        """The number of the last entry, 0 without any."""
        return self[-1]["last_sequence"] if self else 0

    def with_unreadable_lines(self) -> "PartitionRows":
        """The rows of partitions with unreadable lines, found without parsing the others."""
        return PartitionRows([written for written in self.encoded_rows if b'"unreadable"' in written])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionRows) and self.encoded_rows == other.encoded_rows

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _decode_row(written: bytes) -> PartitionRow:
    """Raises: Corrupt if it is not a row or leads elsewhere: a checksum finds damage, not intent."""
    row = parse_object(written)
    if row is None or not _is_row(row):
        raise Corrupt("a manifest.json lists a file that is not a partition; remove it, and it is built again")
    return cast("PartitionRow", row)


def encode_rows(rows: Iterable[PartitionRow]) -> PartitionRows:
    """The rows, encoded."""
    return PartitionRows([json.dumps(row).encode() for row in rows])


class Manifest(NamedTuple):
    """`stamp` is the time of the partitions' folder when it was last read, 0 if never.

    `filters` are the sizes of the filter files at a time when each partition had its filters.
    """

    rows: PartitionRows = PartitionRows([])
    stamp: int = 0
    filters: tuple[int, ...] = ()
    # The unknown fields of rows that another program wrote, in its order.
    foreign_rows: Mapping[str, Mapping[str, object]] = MappingProxyType({})
    extra: Mapping[str, object] = _NOTHING


def load(paths: ConversationPaths) -> Manifest:
    """The manifest, without what does not make sense. Raises: OSError."""
    data = read_bytes(paths.transcript_file(MANIFEST_FILE)) or b""
    head, _, block = data.partition(_BEGIN)
    found = parse_object(head + b"\n}") if block else None
    if found and found.pop("rows_crc", None) == zlib.crc32(block) and found.get("version") == VERSION:
        stamp, filters = found.pop("stamp", 0), tuple(integers(found.pop(_FILTERS, None)))
        if type(stamp) is int:
            rows = block.removesuffix(_END)
            encoded = rows.split(b",\n") if rows else []
            return Manifest(PartitionRows(encoded), stamp, filters, extra=_foreign_fields(found))
    return _load_foreign(parse_object(data))


def _load_foreign(found: dict[str, object] | None) -> Manifest:
    """The manifest of another program: only its order and its unknown fields are used, no numbers."""
    rows = found.pop("partitions", None) if found else None
    if found is None or not isinstance(rows, list) or found.get("version") != VERSION:
        return Manifest()
    found.pop("stamp", None)
    known = [cast("dict[str, object]", row) for row in cast("list[object]", rows) if isinstance(row, dict)]
    return Manifest(
        foreign_rows={str(row.get("file", "")): foreign_row_fields(row) for row in known}, extra=_foreign_fields(found)
    )


def save(paths: ConversationPaths, manifest: Manifest, storage: StorageSettings) -> None:
    """Replace the file. Raises: OSError."""
    limits = (storage.partition_max_entries, storage.partition_max_age_seconds, storage.partition_max_tokens)
    policy = dict(zip(_LIMITS, limits, strict=True))
    whole: dict[str, object] = {"version": VERSION, "active_partition": os.path.basename(paths.active)}
    block = b",\n".join(manifest.rows.encoded_rows) + _END
    whole |= {"stamp": manifest.stamp, _FILTERS: manifest.filters, "rows_crc": zlib.crc32(block), **manifest.extra}
    foreign = manifest.extra.get(_POLICY)
    whole[_POLICY] = {**cast("dict[str, object]", foreign), **policy} if isinstance(foreign, dict) else policy
    write_atomic(paths.transcript_file(MANIFEST_FILE), pretty_json(whole)[:-3] + _BEGIN + block)


def folder_stamp(paths: ConversationPaths) -> int:
    """Changes when partitions are added or removed; 0 without a folder. Raises: OSError."""
    try:
        return os.stat(paths.partitions).st_mtime_ns
    except FileNotFoundError:
        return 0


def foreign_row_fields(row: Mapping[str, object]) -> dict[str, object]:
    """The fields of a row that are not ours."""
    return {name: value for name, value in row.items() if name not in PartitionRow.__annotations__}


def _foreign_fields(found: dict[str, object]) -> dict[str, object]:
    ours = ("version", "active_partition", _POLICY, _FILTERS, "rows_crc")
    rest = {name: value for name, value in found.items() if name not in ours}
    if isinstance(policy := found.get(_POLICY), dict):
        foreign = {name: value for name, value in cast("dict[str, object]", policy).items() if name not in _LIMITS}
        rest |= {_POLICY: foreign} if foreign else {}
    return rest


def _is_row(row: dict[str, object]) -> bool:
    file = row.get("file")
    if not isinstance(file, str) or not all(type(row.get(name)) is int for name in _NUMBER_FIELDS):
        return False
    folder, name = os.path.split(file)
    return folder == "partitions" and name.endswith(".jsonl") and "\0" not in name
