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
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, NotRequired, TypedDict, cast

from marid.adapters.store import files
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.records import Corrupt, StorageSettings

VERSION = 1
MANIFEST_FILE = "manifest.json"
_BEGIN = b',\n  "partitions": [\n'
_END = b"\n  ]\n}\n"
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


_NUMBER_FIELDS = [name for name, kind in PartitionRow.__annotations__.items() if kind is int]


def encode_row(row: PartitionRow) -> bytes:
    """The row as a manifest has it."""
    return json.dumps(row).encode()


def parse_row(encoded: bytes) -> PartitionRow:
    """Raises: Corrupt if it does not name a partition: the checksum of a manifest finds damage, not intent."""
    row = files.parse_object(encoded) or {}
    folder, name = os.path.split(str(row.get("file")))
    is_partition = folder == "partitions" and name.endswith(".jsonl") and "\0" not in name
    if not is_partition or not all(type(row.get(field)) is int for field in _NUMBER_FIELDS):
        raise Corrupt("a manifest.json lists a file that is not a partition; remove it, and it is built again")
    return cast("PartitionRow", row)


class Manifest(NamedTuple):
    """`rows` are for `parse_row`: opening a conversation needs only the last few.

    `stamp` is the time of the partitions' folder when it was last read, 0 if never; `filters` are the sizes of the
    filter files at a time when each partition had its filters.
    """

    rows: tuple[bytes, ...] = ()
    stamp: int = 0
    filters: tuple[int, ...] = ()
    # The unknown fields of rows that another program wrote, in its order.
    foreign_rows: Mapping[str, Mapping[str, object]] = MappingProxyType({})
    extra: Mapping[str, object] = MappingProxyType({})

    @property
    def last_sequence(self) -> int:
        """The number of the last entry, 0 without any."""
        return parse_row(self.rows[-1])["last_sequence"] if self.rows else 0


def load_manifest(paths: ConversationPaths) -> Manifest:
    """The manifest, without what does not make sense. Raises: OSError."""
    data = files.read_bytes(paths.transcript_file(MANIFEST_FILE)) or b""
    head, _, block = data.partition(_BEGIN)
    found = files.parse_object(head + b"\n}") if block else None
    if found and found.pop("rows_crc", None) == zlib.crc32(block) and found.get("version") == VERSION:
        stamp, filters = found.pop("stamp", 0), tuple(files.integers(found.pop(_FILTERS, None)))
        if type(stamp) is int:
            rows = block.removesuffix(_END)
            return Manifest(tuple(rows.split(b",\n")) if rows else (), stamp, filters, extra=_foreign_fields(found))
    return _load_foreign(files.parse_object(data))


def _load_foreign(found: dict[str, object] | None) -> Manifest:
    """The manifest of another program: only its order and its unknown fields are used, no numbers."""
    rows = found.pop("partitions", None) if found else None
    if found is None or not isinstance(rows, list) or found.get("version") != VERSION:
        return Manifest()
    found.pop("stamp", None)
    known = [cast("dict[str, object]", row) for row in cast("list[object]", rows) if isinstance(row, dict)]
    foreign_rows = {str(row.get("file", "")): foreign_row_fields(row) for row in known}
    return Manifest(foreign_rows=foreign_rows, extra=_foreign_fields(found))


def save_manifest(paths: ConversationPaths, manifest: Manifest, storage: StorageSettings) -> None:
    """Replace the file. Raises: OSError."""
    limits = (storage.partition_max_entries, storage.partition_max_age_seconds, storage.partition_max_tokens)
    policy = dict(zip(_LIMITS, limits, strict=True))
    whole: dict[str, object] = {"version": VERSION, "active_partition": os.path.basename(paths.active)}
    block = b",\n".join(manifest.rows) + _END
    whole |= {"stamp": manifest.stamp, _FILTERS: manifest.filters, "rows_crc": zlib.crc32(block), **manifest.extra}
    foreign = manifest.extra.get(_POLICY)
    whole[_POLICY] = {**cast("dict[str, object]", foreign), **policy} if isinstance(foreign, dict) else policy
    files.write_atomic(paths.transcript_file(MANIFEST_FILE), files.pretty_json(whole)[:-3] + _BEGIN + block)


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


class FilterFrame(NamedTuple):
    """A filter, and the size of its partition when it was built."""

    size: int
    data: bytes


def build_filter(items: Collection[str]) -> bytes:
    """A filter that contains all of the items."""
    from rbloom import Bloom

    bloom = Bloom(max(1, len(items)), _FALSE_POSITIVE_RATE, _hash_function())
    bloom.update(items)  # pyright: ignore[reportUnknownMemberType] (rbloom leaves it open)
    return bloom.save_bytes()


def may_contain(frame: FilterFrame | None, row: PartitionRow, items: Collection[str]) -> bool:
    """Whether all items may be in the partition; true if the filter is missing or of another size."""
    if frame is None or frame.size != row["size"] or not items:
        return True
    from rbloom import Bloom

    bloom = Bloom.load_bytes(frame.data, _hash_function())
    return all(item in bloom for item in items)


def load_frames(path: str) -> dict[str, FilterFrame]:
    """The last undamaged frame of each partition. Raises: OSError."""
    return dict(_decode_frames(files.read_bytes(path) or b""))


def append_frame(path: str, row: PartitionRow, items: Collection[str]) -> None:
    """Add the filter of a partition. Raises: OSError."""
    files.append_bytes(path, _encode_frame(row["file"], FilterFrame(row["size"], build_filter(items))))


def rewrite_frames(path: str, frames: Mapping[str, FilterFrame]) -> None:
    """Replace the file by these frames, if it has others or damage. Raises: OSError."""
    data = b"".join(_encode_frame(name, frame) for name, frame in frames.items())
    if data != (files.read_bytes(path) or b""):
        files.write_atomic(path, data, durable=False)


def filter_sizes(paths: ConversationPaths) -> tuple[int, ...]:
    """The sizes of the filter files, which grow with every filter; -1 for a missing one."""
    return tuple(files.file_size(paths.transcript_file(name)) for name in (IDS_FILE, WORDS_FILE))


def sidecar_frame(partition: str, kind: str) -> FilterFrame | None:
    """The filter in the file beside a partition, if it has one of ours."""
    with suppress(OSError):
        return load_frames(os.path.splitext(partition)[0] + SIDECAR_SUFFIX).get(kind)
    return None


def words_of(text: str) -> set[str]:
    """The words of a text, case-folded: runs of letters and digits."""
    runs = set(text.casefold().split())  # most words repeat
    words = set(filter(str.isalnum, runs))
    return words.union(*map(_WORD.findall, runs - words))


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


def _decode_frames(data: bytes) -> Iterator[tuple[str, FilterFrame]]:
    at = 0
    while (at := data.find(_MAGIC, at)) >= 0 and at + _HEAD.size <= len(data):
        _, name, length, check, size = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        body = data[start : start + name + length]
        if len(body) == name + length and zlib.crc32(body) == check:
            # The number of hashes must make sense: rbloom does not check it, and panics or never ends.
            hashes = int.from_bytes(body[name : name + _HASH_COUNT_BYTES], "little")
            if length > _HASH_COUNT_BYTES and 0 < hashes <= _MAX_HASHES:
                yield body[:name].decode("utf-8", "surrogateescape"), FilterFrame(size, body[name:])
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
