"""A file that only grows, by whole lines, each on the disk before anybody is told so.

Where many lines come the file is made longer ahead of them: a line that is written into blocks which are there already
costs the file system no entry in its own journal, and so half the time. The room is made of tabs, which no line of ours
has, and which every reader of JSON passes over; it goes when the file is closed, or when it is opened after a crash.
"""

import errno
import os
import re
import time
from contextlib import suppress

from marid.adapters.store.atomic_files import APPEND_FLAGS, open_file, parse_object, sync_folder
from marid.adapters.store.entry_lines import decode_line, parse_lines
from marid.core.conversation.entry_json import MORE_LINES
from marid.core.conversation.records import Corrupt
from marid.workspace.write.atomic import write_all

PADDING = b"\t"
_PADDING_RUN = re.compile(PADDING + b"+")
_MAX_PADDING = 1 << 16
# What a disk writes as a whole, or a part of it.
_SECTOR = 512
_LINE_END = ord("\n")
# Seconds: as coarse as times of files are, and where they are whole seconds.
_CLOCK_TICK, _COARSE_CLOCK_TICK = 0.02, 2.0
# For fewer lines room is not worth its making.
_APPENDS_BEFORE_PADDING = 16


class AppendLog:
    """Opened by the first use and repaired then: what a crash has cut is put aside into `<path>.torn`.

    All methods raise OSError. `size` is what has been acknowledged; what is beyond it counts as never written.
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
        """How many bytes are there for good."""
        self._ensure_open()
        return self._size

    def is_changed(self) -> bool:
        """Whether somebody else has put another file in the place of this one, or has made it longer or shorter."""
        if self._size < 0:
            return False
        # After a failure the file is as long as the failure left it, which the next opening sets right.
        if self._fd >= 0 and os.lseek(self._fd, 0, os.SEEK_END) != self._end:
            return True
        return not self._is_same_file()

    def append(self, data: bytes) -> None:
        """Write and sync; when that fails nothing is left of it, and the next call opens the file anew.

        It fails as well when what was written to is not the file of that name any more.
        """
        fd = self._ensure_open()
        end = self._size + len(data)
        try:
            if end <= self._end or not self._append_padded(fd, data):
                _write_at(fd, data, self._size)
            os.fdatasync(fd)
            self._check_same_file()
        except BaseException:
            # After a failed sync nobody knows what the disk has: only what was acknowledged before it counts.
            with suppress(OSError):
                os.ftruncate(fd, self._size)
                os.fsync(fd)
            self.abandon()
            raise
        self._size = end
        self._end = max(self._end, end)
        self._appends += 1

    def read(self, start: int = 0) -> bytes:
        """All that is acknowledged from `start` on."""
        fd = self._ensure_open()
        return read_range(fd, start, self._size)

    def trim(self) -> None:
        """Give back the room, unless somebody else has put something there."""
        if self._fd >= 0 and self._end > self._size:
            left = read_range(self._fd, self._size, self._end + 1)
            if len(left) == self._end - self._size and not left.strip(PADDING):
                os.ftruncate(self._fd, self._size)
            self._end = self._size

    def close(self) -> None:
        """Let go of the file."""
        with suppress(OSError):
            self.trim()
        self.abandon()

    def abandon(self) -> None:
        """Leave the file as it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _append_padded(self, fd: int, data: bytes) -> bool:
        """Write with room behind it, if that is worth while; a disk that has no room for room is no error."""
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
            fd = open_file(self._path, APPEND_FLAGS & ~os.O_APPEND)
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
            raise Corrupt(f"'{self._path}' has become shorter while it was in use")
        if there > self._size:
            os.ftruncate(fd, self._size)
            os.fsync(fd)
        return self._size

    def _check_same_file(self) -> None:
        """What has that name is to be the file that was looked through."""
        if not self._is_same_file():
            raise OSError(errno.ESTALE, f"somebody has replaced '{self._path}' meanwhile")

    def _is_same_file(self) -> bool:
        """Whether the file still has its name. The file itself is not looked at unless it must be: Linux gives one that
        was looked at a new time at its next write, and then the sync takes half as long again. Its folder tells when
        names have changed, unless that was a moment ago: a clock may be too coarse to tell two moments apart.
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
        """The number that the folder has for the file, 0 for none; not every file system has the file's own there."""
        with os.scandir(self._folder) as found:
            return next((entry.inode() for entry in found if entry.name == self._name), 0)


def repair_tail(fd: int, path: str) -> tuple[int, int]:
    """Take the end of a cut line or of a cut group of lines out of the file: its size, and how much was taken out.

    A last line that lacks nothing but its end gets it. Raises: OSError.
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
    """As much of a journal that somebody is writing as is made of whole lines and whole groups.

    A last line may lack its end: no part of an object is an object.
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
    """What stands before the first hole: room between lines, where a power cut let some of what was written into the
    room reach the disk, and not what was before it.

    Tabs alone tell nothing, since others may write them. A disk writes sectors: a hole ends with one, and begins with
    one or where the append began. And a hole has swallowed something: it is within a line of ours, in which no tab is
    ever written, or the line that it is in cannot be read or jumps over numbers, and so does the next of ours, if there
    is any.
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
    """Whether this run of tabs lies as one that no sector was written over."""
    begins = run.start() % _SECTOR == 0 or data[run.start() - 1] == _LINE_END
    return begins and run.end() % _SECTOR == 0


def length_marker(path: str) -> tuple[int, int]:
    """Which file there is, and how long it is without its room. Raises: OSError."""
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
    """Those bytes, as far as they are there. Raises: OSError."""
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
    """How many lines have to follow this one."""
    if b'"%s"' % MORE_LINES.encode() not in line:
        return 0
    found = decode_line(line)
    return found[1] if found else 0


def _save_torn_bytes(path: str, data: bytes) -> None:
    """Nothing is thrown away; but where there is no room for it, the repair matters more."""
    with suppress(OSError):
        fd = open_file(path, APPEND_FLAGS)
        try:
            write_all(fd, [data, b"\n"])
        finally:
            os.close(fd)
