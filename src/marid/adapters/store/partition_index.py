"""What is known of the sealed partitions without reading them: the manifest, and filters over their ids and words.

`manifest.json` lists the partitions in order. The Bloom filters of one kind are frames in one file; a partition without
a frame there may have a `.bloom` file beside it, with a frame for each kind. A damaged frame counts as none. Hashes are
our own, since Python's differ from run to run. All of it is derived: if anything is wrong, it is built again.
"""

import json
import os
import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, NotRequired, Protocol, TypedDict, cast, overload

from marid.adapters.store.files import (
    APPEND_FLAGS,
    integers,
    open_file,
    parse_object,
    pretty_json,
    read_bytes,
    write_atomic,
)
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
IDS_FILE = "ids.blooms"
WORDS_FILE = "words.blooms"
SIDECAR_SUFFIX = ".bloom"
_TRIGRAM = 3
_WORD = re.compile(r"[^\W_]+")
# Reading a partition in vain costs more than a few more bits.
_FALSE_POSITIVE_RATE = 0.001
_MAGIC = b"mrd2"
# A filter starts with the number of hashes of an item.
_HASH_COUNT_BYTES = 8
_MAX_HASHES = 64
# Magic, length of the name, length of the filter, checksum of both, size of the partition.
_HEAD = struct.Struct("<4sHIIQ")


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
        row = parse_object(self.encoded_rows[index])
        # A checksum finds damage, not intent: the row may lead elsewhere.
        if row is None or not _is_row(row):
            raise Corrupt("a manifest.json lists a file that is not a partition; remove it, and it is built again")
        return cast("PartitionRow", row)

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


def load_manifest(paths: ConversationPaths) -> Manifest:
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


def save_manifest(paths: ConversationPaths, manifest: Manifest, storage: StorageSettings) -> None:
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


class _Bloom(Protocol):
    """What we use of rbloom, which has no types."""

    def update(self, items: Collection[str]) -> None: ...

    def save_bytes(self) -> bytes: ...

    def __contains__(self, item: str) -> bool: ...


class FilterFrame(NamedTuple):
    """A filter, and the size of its partition when it was built."""

    size: int
    data: bytes


def build_filter(items: Collection[str]) -> bytes:
    """A filter that contains all of the items."""
    from rbloom import Bloom

    make = cast("Callable[[int, float, Callable[[str], int]], _Bloom]", Bloom)
    bloom = make(max(1, len(items)), _FALSE_POSITIVE_RATE, _hash_function())
    bloom.update(items)
    return bloom.save_bytes()


def may_contain(frame: FilterFrame | None, row: PartitionRow, items: Collection[str]) -> bool:
    """Whether all items may be in the partition; true if the filter is missing or of another size."""
    if frame is None or frame.size != row["size"] or not items:
        return True
    from rbloom import Bloom

    opened = cast("Callable[[bytes, Callable[[str], int]], _Bloom]", Bloom.load_bytes)
    bloom = opened(frame.data, _hash_function())
    return all(item in bloom for item in items)


def load_frames(path: str) -> dict[str, FilterFrame]:
    """The last undamaged frame of each partition. Raises: OSError."""
    data = read_bytes(path) or b""
    return {name: FilterFrame(size, filter) for name, size, filter in _decode_frames(data)}


def append_frame(path: str, row: PartitionRow, items: Collection[str]) -> None:
    """Add the filter of a partition. Raises: OSError."""
    fd = open_file(path, APPEND_FLAGS)
    try:
        os.write(fd, _encode_frame(row["file"], FilterFrame(row["size"], build_filter(items))))
    finally:
        os.close(fd)


def rewrite_frames(path: str, frames: Mapping[str, FilterFrame]) -> None:
    """Replace the file by these frames, if it has others or damage. Raises: OSError."""
    data = b"".join(_encode_frame(name, frame) for name, frame in frames.items())
    if data != (read_bytes(path) or b""):
        write_atomic(path, data, durable=False)


def filter_sizes(paths: ConversationPaths) -> tuple[int, ...]:
    """The sizes of the filter files, which grow with every filter; -1 for a missing one. Raises: OSError."""
    found: list[int] = []
    for name in (IDS_FILE, WORDS_FILE):
        try:
            found.append(os.stat(paths.transcript_file(name)).st_size)
        except FileNotFoundError:
            found.append(-1)
    return tuple(found)


def sidecar_frame(partition: str, kind: str) -> FilterFrame | None:
    """The filter in the file beside a partition, if it has one of ours."""
    with suppress(OSError):
        return load_frames(os.path.splitext(partition)[0] + SIDECAR_SUFFIX).get(kind)
    return None


def words_of(text: str) -> set[str]:
    """The words of a text, case-folded: runs of letters and digits."""
    found: set[str] = set()
    # Most words repeat.
    for run in set(text.casefold().split()):
        if run.isalnum():
            found.add(run)
        else:
            found.update(_WORD.findall(run))
    return found


def search_terms(text: str) -> set[str]:
    """What goes into a filter for `text`: its words, and their trigrams, for searches by parts of words."""
    words = words_of(text)
    return words | _trigrams(words)


def query_terms(query: str, *, whole_words: bool) -> set[str]:
    """The terms that any text with every part of the query, or every whole word, must have."""
    if whole_words:
        return words_of(query)
    known: set[str] = set()
    for part in query.casefold().split():
        for word in _WORD.finditer(part):
            # With other characters on both sides it is a whole word in the text too.
            inside = word.start() > 0 and word.end() < len(part)
            known |= {word[0]} if inside else _trigrams({word[0]})
    return known


def _trigrams(words: Collection[str]) -> set[str]:
    """All runs of three characters, marked to differ from words of three."""
    pieces = {word[at : at + _TRIGRAM] for word in words for at in range(len(word) - _TRIGRAM + 1)}
    return {f"~{piece}" for piece in pieces}


def _encode_frame(name: str, frame: FilterFrame) -> bytes:
    body = name.encode("utf-8", "surrogateescape") + frame.data
    return _HEAD.pack(_MAGIC, len(body) - len(frame.data), len(frame.data), zlib.crc32(body), frame.size) + body


def _decode_frames(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    at = 0
    while (at := data.find(_MAGIC, at)) >= 0 and at + _HEAD.size <= len(data):
        _, name, length, check, size = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        body = data[start : start + name + length]
        if len(body) == name + length and zlib.crc32(body) == check:
            # The number of hashes must make sense: rbloom does not check it, and panics or never ends.
            hashes = int.from_bytes(body[name : name + _HASH_COUNT_BYTES], "little")
            if length > _HASH_COUNT_BYTES and 0 < hashes <= _MAX_HASHES:
                yield body[:name].decode("utf-8", "surrogateescape"), size, body[name:]
            at = start + len(body)
        else:
            at += 1


@cache
def _hash_function() -> Callable[[str], int]:
    from hashlib import blake2b

    def hash_item(item: str) -> int:
        digest = blake2b(item.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return int.from_bytes(digest, "little", signed=True)

    return hash_item
