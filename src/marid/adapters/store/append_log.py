"""A file that only grows, by whole lines, each on the disk before the append returns.

After some appends the file is padded with tabs: writing into existing blocks spares the file system a journal entry,
which halves the time of an append. Our lines contain no tabs, and JSON readers skip them. The padding is removed when
the file is closed, or when it is opened after a crash. Requests that arrive while the disk is busy become one write.
"""

import errno
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

from marid.adapters.store.entry_lines import PADDING, complete_lines
from marid.adapters.store.files import WRITE_FLAGS, append_bytes, open_file, read_tail, sync_folder
from marid.core.conversation.records import Corrupt

_MAX_PADDING = 1 << 16
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
        """Write and sync. If that fails, or the file was replaced, nothing is stored; the next call opens it again."""
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

    def read(self) -> bytes:
        """The stored bytes."""
        fd = self._ensure_open()
        return _read_range(fd, 0, self._size)

    def trim(self) -> None:
        """Remove the padding, unless another program has written there."""
        if self._fd >= 0 and self._end > self._size:
            left = _read_range(self._fd, self._size, self._end + 1)
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
        if about.st_size < self._size:
            raise Corrupt(f"'{self._path}' was truncated while it was in use")
        if about.st_size > self._size:
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
    """Move an incomplete line or group of lines out of the file: the new size, and how many bytes were moved."""
    data = _read_range(fd, 0, os.fstat(fd).st_size)
    text = data.rstrip(PADDING)
    good = complete_lines(text)
    torn = text[len(good) :]
    if torn:
        # For a person to look at; on a full disk the repair is more important.
        with suppress(OSError):
            append_bytes(f"{path}.torn", torn + b"\n")
    if len(good) > len(text):  # only the newline was missing
        _write_at(fd, good[len(text) :], len(text))
    if len(good) < len(data):
        os.ftruncate(fd, len(good))
    if good != data:
        os.fsync(fd)
    return len(good), len(torn)


def length_marker(path: str) -> tuple[int, int]:
    """The file's inode and its length without padding. Raises: OSError."""
    end, about = read_tail(path, 2 * _MAX_PADDING)
    return about.st_ino, about.st_size - len(end) + len(end.rstrip(PADDING))


def _inode_key(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def _read_range(fd: int, start: int, end: int) -> bytes:
    """These bytes, as far as the file has them."""
    pieces: list[bytes] = []
    while piece := os.pread(fd, min(end - start, 1 << 24), start):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _write_at(fd: int, data: bytes, start: int) -> None:
    done = os.pwrite(fd, data, start)
    while done < len(data):
        done += os.pwrite(fd, data[done:], start + done)


class CommitWaiter:
    """A waiting request; its thread is woken when it is served, or to serve all that wait."""

    is_served = False
    is_leader = False
    gate: Lock

    def wake(self) -> None:
        """Let the thread go on, if it waits."""
        if self.gate.locked():
            self.gate.release()


T = TypeVar("T", bound=CommitWaiter)


class GroupCommit(Generic[T]):
    """Calls `commit` in one thread at a time, with the waiters of all threads in the order they came.

    Threads that were served together usually come back together. So the last of them commits, which needs no wake-up;
    the first waits only for a moment and commits itself if the others stay away. `commit` must not raise: it stores the
    result in each waiter.
    """

    def __init__(self, commit: Callable[[Sequence[T]], None], longest_wait: float = 0.005) -> None:
        self._commit = commit
        self._longest_wait = longest_wait
        self._lock = Lock()
        self._queue: list[T] = []
        self._busy = False
        self._expected_waiters = 1
        self._last_duration = 0.0

    def submit(self, waiter: T) -> None:
        """Return after `commit` has handled the waiter."""
        waiter.gate = Lock()
        waiter.gate.acquire()
        with self._lock:
            self._queue.append(waiter)
            leads = not self._busy and (self._expected_waiters <= 2 or len(self._queue) >= self._expected_waiters)
            batch = self._take_batch() if leads else []
        if batch := batch or self._wait(waiter):
            self._commit_batch(batch)

    def _take_batch(self) -> list[T]:
        """All waiters, for the thread that will commit. Needs the lock."""
        self._busy = True
        batch, self._queue = self._queue, []
        return batch

    def _wait(self, waiter: T) -> list[T]:
        """Wait until another thread has served the waiter, or return the batch that this thread must commit."""
        try:
            while True:
                with self._lock:
                    # The first in the queue waits a moment for the others, the others until they are woken.
                    timeout = min(self._last_duration, self._longest_wait) if self._is_next(waiter) else -1
                woken = waiter.gate.acquire(timeout=timeout)
                if waiter.is_served:
                    return []
                with self._lock:
                    if waiter.is_leader or (not woken and self._is_next(waiter)):
                        return self._take_batch()
        except BaseException:
            self._remove_waiter(waiter)
            raise

    def _is_next(self, waiter: T) -> bool:
        return not self._busy and self._queue[:1] == [waiter]

    def _remove_waiter(self, waiter: T) -> None:
        """This thread was interrupted: the next takes over."""
        with self._lock:
            if waiter in self._queue:
                self._queue.remove(waiter)
                if waiter.is_leader or not self._busy:
                    self._appoint_leader()

    def _appoint_leader(self) -> None:
        """Let the first waiter serve all. Needs the lock."""
        self._busy = bool(self._queue)
        if self._queue:
            self._queue[0].is_leader = True
            self._queue[0].wake()

    def _commit_batch(self, batch: list[T]) -> None:
        begin = time.perf_counter()
        try:
            self._commit(batch)
        finally:
            self._last_duration = time.perf_counter() - begin
            with self._lock:
                for waiter in batch:
                    waiter.is_served = True
                self._expected_waiters = len(batch) + len(self._queue)
                self._busy = False
                if self._expected_waiters <= 2:
                    # Two need not wait for each other: one computes while the other is written.
                    self._appoint_leader()
                elif self._queue:
                    self._queue[0].wake()
            for waiter in batch:
                waiter.wake()
