"""A file that only grows, by whole lines, each on the disk before anybody is told so."""

import os
from contextlib import suppress

from marid.adapters.store.entries import MORE, decode
from marid.adapters.store.files import ADD, as_object, sync_folder
from marid.core.conversation import Corrupt
from marid.workspace.replace import write_all

_PIECE = 1 << 16


class Journal:
    """Opened by the first use and repaired then: what a crash has cut is put aside into `<path>.torn`.

    All methods raise OSError. `size` is what has been acknowledged; what is beyond it counts as never written.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._size = -1
        self.torn = 0

    @property
    def size(self) -> int:
        """How many bytes are there for good."""
        self._opened()
        return self._size

    def append(self, data: bytes) -> None:
        """Write and sync; when that fails nothing is left of it, and the next call opens the file anew."""
        fd = self._opened()
        try:
            write_all(fd, [data])
            os.fdatasync(fd)
        except BaseException:
            # After a failed sync nobody knows what the disk has: only what was acknowledged before it counts.
            with suppress(OSError):
                os.ftruncate(fd, self._size)
                os.fsync(fd)
            self.close()
            raise
        self._size += len(data)

    def read(self, start: int = 0) -> bytes:
        """All that is acknowledged from `start` on."""
        fd = self._opened()
        return read_range(fd, start, self._size)

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _opened(self) -> int:
        if self._fd < 0:
            new = not os.path.lexists(self._path)
            fd = os.open(self._path, ADD, 0o600)
            try:
                self._size = self._mended(fd)
                if new:
                    sync_folder(os.path.dirname(self._path))
            except BaseException:
                os.close(fd)
                raise
            self._fd = fd
        return self._fd

    def _mended(self, fd: int) -> int:
        if self._size < 0:
            size, self.torn = repair(fd, self._path)
            return size
        there = os.fstat(fd).st_size
        if there < self._size:
            raise Corrupt(f"'{self._path}' has become shorter while it was in use")
        if there > self._size:
            os.ftruncate(fd, self._size)
            os.fsync(fd)
        return self._size


def repair(fd: int, path: str) -> tuple[int, int]:
    """Take the end of a cut line or of a cut group of lines out of the file: its size, and how much was taken out.

    A last line that lacks nothing but its end gets it. Raises: OSError.
    """
    size = os.fstat(fd).st_size
    good = _last_end(fd, size)
    tail = read_range(fd, good, size)
    if tail and as_object(tail) is not None:
        os.write(fd, b"\n")
        os.fsync(fd)
        size = good = size + 1
    good = _group_start(fd, good)
    if good < size:
        _put_aside(f"{path}.torn", read_range(fd, good, size))
        os.ftruncate(fd, good)
        os.fsync(fd)
    return good, size - good


def whole(data: bytes) -> bytes:
    """As much of a journal that somebody is writing as is made of whole lines and whole groups."""
    end = data.rfind(b"\n") + 1
    line = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    more = _more(data[line:end])
    while more:
        end = line
        line = data.rfind(b"\n", 0, max(0, end - 1)) + 1
        more = more + 1 if end and _more(data[line:end]) == more + 1 else 0
    return data[:end]


def read_range(fd: int, start: int, end: int) -> bytes:
    """Those bytes, as far as they are there. Raises: OSError."""
    pieces: list[bytes] = []
    while start < end:
        piece = os.pread(fd, min(end - start, 1 << 24), start)
        if not piece:
            break
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _last_end(fd: int, size: int) -> int:
    """Where the last whole line before `size` ends, 0 without one."""
    while size > 0:
        start = max(0, size - _PIECE)
        found = read_range(fd, start, size).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        size = start
    return 0


def _group_start(fd: int, end: int) -> int:
    """`end`, or where the group begins whose last lines are missing there."""
    line = _last_end(fd, end - 1)
    more = _more(read_range(fd, line, end))
    while more:
        end = line
        line = _last_end(fd, end - 1)
        more = more + 1 if end and _more(read_range(fd, line, end)) == more + 1 else 0
    return end


def _more(line: bytes) -> int:
    """How many lines have to follow this one."""
    if b'"%s"' % MORE.encode() not in line:
        return 0
    found = decode(line)
    return found[1] if found else 0


def _put_aside(path: str, data: bytes) -> None:
    """Nothing is thrown away; but where there is no room for it, the repair matters more."""
    with suppress(OSError):
        fd = os.open(path, ADD, 0o600)
        try:
            write_all(fd, [data, b"\n"])
        finally:
            os.close(fd)
