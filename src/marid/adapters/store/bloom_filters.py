"""Bloom filters over the ids and the words of a partition: what a filter does not know is not in the partition.

The filters of one kind are frames in one file; a partition without a frame there may have a `.bloom` file beside it,
with a frame for each kind. A damaged frame counts as none. Hashes are our own, since Python's differ from run to run.
"""

import os
import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import NamedTuple, Protocol, cast

from marid.adapters.store.files import APPEND_FLAGS, open_file, read_bytes, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.manifest import PartitionRow

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
            if _is_filter(body[name:]):
                yield body[:name].decode("utf-8", "surrogateescape"), size, body[name:]
            at = start + len(body)
        else:
            at += 1


def _is_filter(data: bytes) -> bool:
    """Whether the number of hashes makes sense: rbloom does not check it, and panics or never ends."""
    return len(data) > _HASH_COUNT_BYTES and 0 < int.from_bytes(data[:_HASH_COUNT_BYTES], "little") <= _MAX_HASHES


@cache
def _hash_function() -> Callable[[str], int]:
    from hashlib import blake2b

    def hash_item(item: str) -> int:
        digest = blake2b(item.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return int.from_bytes(digest, "little", signed=True)

    return hash_item
