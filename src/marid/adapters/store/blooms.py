"""Filters over the ids and over the words of a partition: what they do not know is surely not in it.

All partitions' filters of one kind are in one file, a frame each; a frame that is damaged or of another partition is
as good as none. Hashes are our own, since Python's differ from run to run.
"""

import os
import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, Protocol, cast

from marid.adapters.store.files import ADD, read_bytes, write_whole
from marid.adapters.store.manifest import Row

IDS = "ids.blooms"
WORDS = "words.blooms"
# One in a thousand: a partition that is read in vain costs more than the few bits more.
_RATE = 0.001
_MAGIC = b"mrd1"
# Magic, length of the name, length of the filter, check sum of both, size of the partition.
_HEAD = struct.Struct("<4sHIIQ")


class _Bloom(Protocol):
    """What of rbloom is used; it has no types of its own."""

    def update(self, items: Collection[str]) -> None: ...

    def save_bytes(self) -> bytes: ...

    def __contains__(self, item: str) -> bool: ...


class Frame(NamedTuple):
    """The filter of a partition that had this size."""

    size: int
    data: bytes


def pack(items: Collection[str]) -> bytes:
    """A filter that knows all of the items."""
    from rbloom import Bloom

    make = cast("Callable[[int, float, Callable[[str], int]], _Bloom]", Bloom)
    bloom = make(max(1, len(items)), _RATE, _hash)
    bloom.update(items)
    return bloom.save_bytes()


def may_have(frame: Frame | None, row: Row, items: Collection[str]) -> bool:
    """Whether all items may be in the partition; yes whenever the filter cannot tell."""
    from rbloom import Bloom

    if frame is None or frame.size != row["size"] or not items:
        return True
    opened = cast("Callable[[bytes, Callable[[str], int]], _Bloom]", Bloom.load_bytes)
    bloom = opened(frame.data, _hash)
    return all(item in bloom for item in items)


def load(path: str) -> dict[str, Frame]:
    """The newest sound frame of each partition. Raises: OSError."""
    data = read_bytes(path) or b""
    return {name: Frame(size, filter) for name, size, filter in _frames(data)}


def add(path: str, row: Row, items: Collection[str]) -> None:
    """Put a partition's filter to the others. Raises: OSError."""
    fd = os.open(path, ADD, 0o600)
    try:
        os.write(fd, _frame(row["file"], Frame(row["size"], pack(items))))
    finally:
        os.close(fd)


def rewrite(path: str, frames: Mapping[str, Frame]) -> None:
    """Only these, without what was damaged between them. Raises: OSError."""
    write_whole(path, b"".join(_frame(name, frame) for name, frame in frames.items()), durable=False)


def words_of(text: str) -> set[str]:
    """The words of a text: runs of letters and digits, whatever their case."""
    import re

    return set(re.findall(r"[^\W_]+", text.casefold()))


def _frame(name: str, frame: Frame) -> bytes:
    body = name.encode() + frame.data
    return _HEAD.pack(_MAGIC, len(body) - len(frame.data), len(frame.data), zlib.crc32(body), frame.size) + body


def _frames(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    at = 0
    while (at := data.find(_MAGIC, at)) >= 0 and at + _HEAD.size <= len(data):
        _, name, length, check, size = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        body = data[start : start + name + length]
        if len(body) == name + length and zlib.crc32(body) == check:
            yield body[:name].decode("utf-8", "replace"), size, body[name:]
            at = start + len(body)
        else:
            at += 1


def _hash(item: str) -> int:
    import hashlib

    digest = hashlib.blake2b(item.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest, "little", signed=True)
