"""Read lines of a file of any size, without reading more than needed."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from marid.core.errors import BadInput, Exhausted
from marid.text.decode import SNIFF_BYTES, WIDE_BOMS, decode_text, is_binary
from marid.text.display import human_size
from marid.text.edit.text_edits import check_start_line
from marid.workspace.guard.api import GuardedPath

MAX_TEXT_BYTES = 16 << 20
# A slice must begin before _MAX_SCANNED; lines of files above _MAX_COUNTED are not counted.
_MAX_SCANNED = 4 << 30
_MAX_COUNTED = 256 << 20
_CHUNK = 1 << 20
_TAIL = 64 << 10


class LineSpan(NamedTuple):
    """Lines `start` to `end` of `total`, from 1; None where counting would mean reading a huge file."""

    text: str
    start: int | None
    end: int | None
    total: int | None


class LineReader:
    """Lines of the regular file open as `fd`, of `size` bytes. Raises: BadInput for a binary file.

    Methods raise Exhausted for lines that are too long or too far from the start.
    """

    def __init__(self, fd: int, size: int, max_scanned: int = _MAX_SCANNED) -> None:
        self._max_scanned = max_scanned
        self._fd = fd
        self._size = size
        head = os.pread(fd, SNIFF_BYTES, 0)
        if is_binary(head):
            raise binary_file_error(size)
        self._whole = self._read_wide() if head.startswith(WIDE_BOMS) else None

    def _read_wide(self) -> bytes:
        """The text as UTF-8, since a newline byte in UTF-16 or UTF-32 may be part of another character."""
        if self._size > MAX_TEXT_BYTES:
            raise Exhausted(f"{human_size(self._size)} is too large for text in UTF-16 or UTF-32")
        if (text := decode_text(os.pread(self._fd, MAX_TEXT_BYTES, 0))) is None:
            raise binary_file_error(self._size)
        return text.text.encode()

    def read_slice(self, start: int, end: int) -> LineSpan:
        """Lines `start` to `end`, or to the last. Raises: BadInput if there is no line `start`."""
        passed = 0
        kept: list[bytes] = []
        chunk = b"\n"
        at = 0
        while piece := self._read(at, _CHUNK):
            chunk = piece
            at += len(chunk)
            count = chunk.count(b"\n")
            if passed < end and passed + count >= start - 1:
                first = _offset_after_line(chunk, start - 1 - passed, 0)
                kept.append(chunk[first : _offset_after_line(chunk, end - max(start - 1, passed), first)])
                _check_length(kept)
            passed += count
            if passed >= end and self._size > _MAX_COUNTED:
                return LineSpan(_decode_lines(b"".join(kept)), start, end, None)
            if at > self._max_scanned:
                raise Exhausted(f"line {start} is not within the first {human_size(self._max_scanned)}")
        total = passed + (not chunk.endswith(b"\n"))
        if total or start > 1:
            check_start_line(start, total)
        return LineSpan(_decode_lines(b"".join(kept)), min(start, total), min(end, total), total)

    def read_tail(self, count: int) -> LineSpan:
        """The last `count` lines."""
        size = self._size if self._whole is None else len(self._whole)
        data = b""
        at = size
        # A newline at the very end does not begin another line.
        while at and data.count(b"\n", 0, -1) < count:
            step = min(max(_TAIL, len(data)), at)
            at -= step
            data = self._read(at, step) + data
            _check_length([data])
        lines = data.split(b"\n")
        surplus = len(lines) - (not lines[-1]) - count
        total = self._count_lines(size)
        start = None if total is None else min(total, max(1, total - count + 1))
        return LineSpan(_decode_lines(b"\n".join(lines[max(surplus, 0) :])), start, total, total)

    def _count_lines(self, size: int) -> int | None:
        """The number of lines; None if the file is too large to count."""
        if size > _MAX_COUNTED:
            return None
        count = sum(self._read(at, _CHUNK).count(b"\n") for at in range(0, size, _CHUNK))
        return count + (size > 0 and self._read(size - 1, 1) != b"\n")

    def _read(self, at: int, size: int) -> bytes:
        if self._whole is not None:
            return self._whole[at : at + size]
        return os.pread(self._fd, size, at)


def binary_file_error(size: int) -> BadInput:
    """The error for a binary file."""
    return BadInput(f"binary file of {human_size(size)}, not text")


def _offset_after_line(chunk: bytes, number: int, at: int) -> int:
    for _ in range(number):
        found = chunk.find(b"\n", at)
        if found < 0:
            return len(chunk)
        at = found + 1
    return at


def _check_length(pieces: list[bytes]) -> None:
    if sum(map(len, pieces)) > MAX_TEXT_BYTES:
        raise Exhausted(f"these lines are larger than {human_size(MAX_TEXT_BYTES)}: read fewer")


def _decode_lines(data: bytes) -> str:
    if (text := decode_text(data)) is None:
        raise BadInput("these lines are binary data, not text")
    return text.text


@contextmanager
def open_lines(path: GuardedPath) -> Generator[LineReader, None, None]:
    """A reader for the lines of a file. Raises: NotFound, Refused, BadInput if it is not a text file."""
    with path.open_regular() as fd:
        yield LineReader(fd, os.fstat(fd).st_size)
