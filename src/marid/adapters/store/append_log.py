"""A file that only grows, by whole lines, each on the disk before the append returns.

After some appends the file is padded with tabs: writing into existing blocks spares the file system a journal entry,
which halves the time of an append. Our lines contain no tabs, and JSON readers skip them. The padding is removed when
the file is closed, or when it is opened after a crash.
"""

import errno
import os
import re
import time
from contextlib import suppress

from marid.adapters.store.entry_lines import decode_line, parse_lines
from marid.adapters.store.files import APPEND_FLAGS, WRITE_FLAGS, open_file, parse_object, sync_folder
from marid.core.conversation.entry_json import MORE_LINES
from marid.core.conversation.records import Corrupt
from marid.workspace.write.atomic import write_all

PADDING = b"\t"
_PADDING_RUN = re.compile(PADDING + b"+")
_MAX_PADDING = 1 << 16
# A disk writes sectors, or parts of them, as a whole.
_SECTOR = 512
_LINE_END = ord("\n")
# Resolution of file times in seconds: usual, and where file systems store whole seconds.
_CLOCK_TICK, _COARSE_CLOCK_TICK = 0.02, 2.0
# Padding is not worth its cost for fewer lines.
_APPENDS_BEFORE_PADDING = 16


class AppendLog:
    """Opened and repaired at the first use: an incomplete append, left by a crash, is moved to `<path>.torn`.

    All methods raise OSError. `size` counts what was acknowledged; anything beyond it was never written.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._file_key = (0, 0)
        self._folder, self._name = os.path.split(path)
        self._folder_stamp, self._entry_inode = (0, 0), 0
        self._size = -1
        self._end = -1
        self._appends = 0
        self.torn_bytes = 0

    @property
    def size(self) -> int:
        self._ensure_open()
        return self._size

    def is_changed(self) -> bool:
        """Whether another program has replaced the file or changed its length."""
        if self._size < 0:
            return False
        # After a failed append the length is uncertain until the next opening repairs it.
        if self._fd >= 0 and os.lseek(self._fd, 0, os.SEEK_END) != self._end:
            return True
        return not self._is_same_file()

    def append(self, data: bytes) -> None:
        """Write and sync. If that fails, or the file was replaced meanwhile, nothing is stored, and the next call opens
        the file again.
        """
        fd = self._ensure_open()
        end = self._size + len(data)
        try:
            if end <= self._end or not self._append_padded(fd, data):
                _write_at(fd, data, self._size)
            os.fdatasync(fd)
            self._check_same_file()
        except BaseException:
            # After a failed sync the content of the disk is unknown: only what was acknowledged before counts.
            with suppress(OSError):
                os.ftruncate(fd, self._size)
                os.fsync(fd)
            self.abandon()
            raise
        self._size = end
        self._end = max(self._end, end)
        self._appends += 1

    def read(self, start: int = 0) -> bytes:
        """The stored bytes from `start` on."""
        fd = self._ensure_open()
        return read_range(fd, start, self._size)

    def trim(self) -> None:
        """Remove the padding, unless another program has written there."""
        if self._fd >= 0 and self._end > self._size:
            left = read_range(self._fd, self._size, self._end + 1)
            if len(left) == self._end - self._size and not left.strip(PADDING):
                os.ftruncate(self._fd, self._size)
            self._end = self._size

    def close(self) -> None:
        """Remove the padding and close the file."""
        with suppress(OSError):
            self.trim()
        self.abandon()

    def abandon(self) -> None:
        """Close the file as it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _append_padded(self, fd: int, data: bytes) -> bool:
        """Write with padding, if that is worthwhile; a disk without space for padding is not an error."""
        if self._appends < _APPENDS_BEFORE_PADDING:
            return False
        try:
            _write_at(fd, data + PADDING * _MAX_PADDING, self._size)
        except OSError:
            self._appends = 0
            os.ftruncate(fd, self._size)
            self._end = self._size
            return False
        self._end = self._size + len(data) + _MAX_PADDING
        return True

    def _ensure_open(self) -> int:
        if self._fd < 0:
            new = not os.path.lexists(self._path)
            fd = open_file(self._path, WRITE_FLAGS)
            try:
                self._size = self._end = self._recovered_size(fd)
                if new:
                    sync_folder(self._folder)
            except BaseException:
                os.close(fd)
                raise
            self._fd = fd
        return self._fd

    def _recovered_size(self, fd: int) -> int:
        if self._size < 0:
            size, self.torn_bytes = repair_tail(fd, self._path)
            self._file_key, self._folder_stamp = _inode_key(os.fstat(fd)), (0, 0)
            return size
        about = os.fstat(fd)
        if _inode_key(about) != self._file_key:
            self._folder_stamp = (0, 0)
        self._check_same_file()
        there = about.st_size
        if there < self._size:
            raise Corrupt(f"'{self._path}' was truncated while it was in use")
        if there > self._size:
            os.ftruncate(fd, self._size)
            os.fsync(fd)
        return self._size

    def _check_same_file(self) -> None:
        if not self._is_same_file():
            raise OSError(errno.ESTALE, f"another program has replaced '{self._path}'")

    def _is_same_file(self) -> bool:
        """Whether the name still leads to this file. The file itself is examined only if it must be: after a `stat`
        Linux updates its time at the next write, and the sync takes 1.5 times as long. The time of the folder shows
        when names have changed, unless that was a moment ago and the clock is too coarse.
        """
        with suppress(FileNotFoundError):
            about = os.stat(self._folder)
            stamp = about.st_ino, about.st_mtime_ns
            tick = _CLOCK_TICK if about.st_mtime_ns % 10**9 else _COARSE_CLOCK_TICK
            settled = about.st_mtime + tick < time.time()
            if stamp == self._folder_stamp and (settled or self._inode_in_folder() == self._entry_inode):
                return True
            if _inode_key(os.lstat(self._path)) == self._file_key:
                self._folder_stamp, self._entry_inode = stamp, self._inode_in_folder()
                return True
        return False

    def _inode_in_folder(self) -> int:
        """The inode number in the folder's entry, 0 for none; on some file systems it is not the file's own."""
        with os.scandir(self._folder) as found:
            return next((entry.inode() for entry in found if entry.name == self._name), 0)


def repair_tail(fd: int, path: str) -> tuple[int, int]:
    """Move an incomplete line or group of lines out of the file: the new size, and how many bytes were moved.

    A last line that lacks only its newline gets it. Raises: OSError.
    """
    data = read_range(fd, 0, os.fstat(fd).st_size)
    text = data.rstrip(PADDING)
    good = complete_lines(text)
    torn = text[len(good) :]
    if torn:
        _save_torn_bytes(f"{path}.torn", torn)
    if len(good) > len(text):
        _write_at(fd, good[len(text) :], len(text))
    if len(good) < len(data):
        os.ftruncate(fd, len(good))
    if good != data:
        os.fsync(fd)
    return len(good), len(torn)


def complete_lines(data: bytes) -> bytes:
    """The part of a file, which may be written at this moment, that is whole lines and whole groups.

    The last line may lack its newline: no part of a JSON object is an object.
    """
    data = before_first_hole(data.rstrip(PADDING))
    end = data.rfind(b"\n") + 1
    if end < len(data) and parse_object(data[end:]) is not None:
        data += b"\n"
        end = len(data)
    line = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    more = _lines_to_follow(data[line:end])
    while more:
        end = line
        line = data.rfind(b"\n", 0, max(0, end - 1)) + 1
        more = more + 1 if end and _lines_to_follow(data[line:end]) == more + 1 else 0
    return data[:end]


def before_first_hole(data: bytes) -> bytes:
    """The data before the first hole: padding where a power cut has lost a part of an append, but not what follows.

    Tabs alone are no proof, since other programs may write them. A disk writes sectors: a hole ends at the end of one,
    and starts with one or where the append started. And something is missing: the hole is inside a line of ours, which
    never contains a tab, or its line is unreadable or skips numbers, and so does our next line, if there is one.
    """
    if PADDING not in data:
        return data
    holes = [run.start() for run in _PADDING_RUN.finditer(data) if _is_hole(data, run)]
    if not holes:
        return data
    broken = {data.rfind(b"\n", 0, hole) + 1: hole for hole in reversed(holes)}
    at = min(broken)
    number = max((line.entry.sequence for line in parse_lines(data[:at])), default=0)
    doubt = -1
    while at < len(data):
        stop = data.find(b"\n", at) + 1 or len(data)
        doubt = at if doubt < 0 and at in broken else doubt
        entry = decode_line(data[at:stop], -1)
        if entry is not None:
            own = entry[0].sequence
            if own and broken.get(at, at) > at:
                return data[:at]
            if doubt >= 0 and number and own > number + 1:
                return data[:doubt]
            number, doubt = max(own, number + 1), -1
        at = stop
    return data[:doubt] if doubt >= 0 else data


def _is_hole(data: bytes, run: re.Match[bytes]) -> bool:
    """Whether this run of tabs can be sectors that were not written."""
    begins = run.start() % _SECTOR == 0 or data[run.start() - 1] == _LINE_END
    return begins and run.end() % _SECTOR == 0


def length_marker(path: str) -> tuple[int, int]:
    """The file's inode and its length without padding. Raises: OSError."""
    fd = open_file(path)
    try:
        about = os.fstat(fd)
        end = read_range(fd, max(0, about.st_size - 2 * _MAX_PADDING), about.st_size)
        return about.st_ino, about.st_size - len(end) + len(end.rstrip(PADDING))
    finally:
        os.close(fd)


def _inode_key(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def read_range(fd: int, start: int, end: int) -> bytes:
    """These bytes, as far as the file has them. Raises: OSError."""
    pieces: list[bytes] = []
    while start < end:
        piece = os.pread(fd, min(end - start, 1 << 24), start)
        if not piece:
            break
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _write_at(fd: int, data: bytes, start: int) -> None:
    done = os.pwrite(fd, data, start)
    while done < len(data):
        done += os.pwrite(fd, data[done:], start + done)


def _lines_to_follow(line: bytes) -> int:
    """How many lines of the same append follow this one."""
    if b'"%s"' % MORE_LINES.encode() not in line:
        return 0
    found = decode_line(line)
    return found[1] if found else 0


def _save_torn_bytes(path: str, data: bytes) -> None:
    """Keep the bytes for a person to look at. On a full disk the repair is more important."""
    with suppress(OSError):
        fd = open_file(path, APPEND_FLAGS)
        try:
            write_all(fd, [data, b"\n"])
        finally:
            os.close(fd)
