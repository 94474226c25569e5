"""Who may write a conversation: the kernel's lock on `.lock`, which also says for people who has it.

No clock decides: the kernel frees the lock of a process that is gone, whatever the file says. Only when a child of that
process still has the descriptor does the file's pid and start decide, and then a new file takes the place of the old.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from marid.adapters.store.atomic_files import (
    APPEND_FLAGS,
    open_file,
    parse_object,
    read_bytes,
    unavailable,
    unlock_and_close,
)
from marid.core.conversation.records import ConversationLocked, LeaseHolder
from marid.core.errors import NotFound, Unavailable

_POLL_INTERVAL = 0.02
# A heartbeat is written over the one before: always the same length.
_FILE_WIDTH = 512
# No time, process or count is so large; and a calendar ends before that.
_MAX_NUMBER = 10**14


class Lease:
    """Held from the moment it is made until `release`."""

    def __init__(self, path: str, fd: int, token: int, heartbeat: float, clock: Callable[[], float]) -> None:
        self._path = path
        self._fd = fd
        self._file = os.fstat(fd)
        self._pid = os.getpid()
        self._clock = clock
        self._since = round(clock() * 1000)
        self.token = token
        self._owner_prefix = b'{"token": %d, "pid": %d, ' % (token, self._pid)
        self._release_event = Event()
        self._is_held = True
        self._write_heartbeat()
        self._thread = Thread(target=self._heartbeat_loop, args=(heartbeat,), daemon=True, name="marid lease")
        if heartbeat > 0:
            self._thread.start()

    @property
    def is_ours(self) -> bool:
        """Whether it was taken by this process: a child that was forked meanwhile has only a copy."""
        return self._pid == os.getpid()

    def check(self) -> None:
        """Raises: Unavailable when the lease is given back, was taken by force, or belongs to the parent process."""
        if not self._is_held:
            raise Unavailable("the conversation is closed")
        if not self.is_ours:
            raise Unavailable("the conversation was opened by another process")
        try:
            sound = os.path.samestat(os.stat(self._path), self._file)
            sound = sound and os.pread(self._fd, len(self._owner_prefix), 0) == self._owner_prefix
        except OSError:
            sound = False
        if not sound:
            raise Unavailable("the conversation's lock was taken away; open it again")

    def release(self) -> None:
        """Let others in; the thread ends at once."""
        if not self._is_held:
            return
        self._is_held = False
        self._release_event.set()
        if self._thread.is_alive():
            self._thread.join()
        if not self.is_ours:
            os.close(self._fd)
            return
        with suppress(OSError):
            os.pwrite(self._fd, _pad(b'{"token": %d}' % self.token), 0)
        unlock_and_close(self._fd)

    def _heartbeat_loop(self, seconds: float) -> None:
        while not self._release_event.wait(seconds):
            with suppress(OSError):
                self._write_heartbeat()

    def _write_heartbeat(self) -> None:
        import json

        rest = {
            "host": _hostname(),
            "space": _pid_namespace(),
            "start": _process_start(self._pid),
            "since": self._since,
        }
        rest["heartbeat"] = round(self._clock() * 1000)
        os.pwrite(self._fd, _pad(self._owner_prefix + json.dumps(rest).encode()[1:]), 0)


def acquire(path: str, *, wait: float, heartbeat: float, clock: Callable[[], float] = time.time) -> Lease:
    """Take the lease of the conversation whose lock file this is; a holder that is gone is replaced at once.

    Raises: Held when it is not free within `wait` seconds; NotFound when the conversation is not there, or not any
    more; Unavailable when the disk does not allow it.
    """
    until = time.monotonic() + wait
    while True:
        try:
            # Who has it is written before the next taker may look: to that one the words of somebody who is gone
            # would mean that the lock is free.
            with _folder_lock(os.path.dirname(path)):
                if (fd := _try_acquire(path)) is not None:
                    with _close_on_error(fd):
                        return Lease(path, fd, _next_token(_read_lock_file(path), clock()), heartbeat, clock)
        except FileNotFoundError:
            raise NotFound(f"there is no conversation '{os.path.basename(os.path.dirname(path))}'") from None
        except OSError as error:
            raise unavailable(f"locking '{path}'", error) from error
        if time.monotonic() >= until:
            raise _locked_error(path)
        time.sleep(_POLL_INTERVAL)


def current_holder(path: str) -> LeaseHolder | None:
    """Who has the lease now."""
    try:
        # Behind the gate: nobody who wants the lease may meet us in its place.
        with _folder_lock(os.path.dirname(path)):
            fd = open_file(path)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                words = _read_lock_file(path)
                return None if _is_holder_dead(words) else _holder_from(words)
            finally:
                unlock_and_close(fd)
    except OSError:
        return None
    return None


def is_abandoned(path: str) -> bool:
    """Whether the last holder has not given it back, or has yet to do so."""
    return bool(_number_field(_read_lock_file(path), "pid"))


@contextmanager
def _folder_lock(folder: str) -> Generator[None]:
    """One taker at a time: the folder itself is the lock, and it is never replaced."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        unlock_and_close(fd)


@contextmanager
def _close_on_error(fd: int) -> Generator[None]:
    """What fails meanwhile closes the descriptor: one that leaks is a lock against ourselves."""
    try:
        yield
    except BaseException:
        os.close(fd)
        raise


def _try_acquire(path: str) -> int | None:
    """The locked descriptor, or None when somebody is there."""
    fd = _try_lock(path)
    if fd is None and _is_holder_dead(_read_lock_file(path)):
        # A child of the former holder has inherited its descriptor: it may keep the old file.
        last = _last_token(_read_lock_file(path))
        os.unlink(path)
        fd = _try_lock(path)
        if fd is not None:
            with _close_on_error(fd):
                os.pwrite(fd, _pad(b'{"token": %d}' % last), 0)
    if fd is not None:
        with _close_on_error(fd):
            if not os.path.samestat(os.stat(path), os.fstat(fd)):
                # Whoever has renamed or destroyed the conversation meanwhile let go of this lock.
                raise FileNotFoundError(errno.ENOENT, "another conversation has that name now")
    return fd


def _try_lock(path: str) -> int | None:
    fd = open_file(path, APPEND_FLAGS & ~os.O_APPEND)
    with _close_on_error(fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        else:
            # What an older program has left may be longer than what we write.
            if os.fstat(fd).st_size > _FILE_WIDTH:
                os.ftruncate(fd, 0)
            return fd
    os.close(fd)
    return None


def _read_lock_file(path: str) -> dict[str, object]:
    try:
        return parse_object(read_bytes(path) or b"") or {}
    except OSError:
        return {}


def _number_field(words: dict[str, object], name: str) -> int:
    value = words.get(name)
    return value if type(value) is int and 0 <= value < _MAX_NUMBER else 0


def _next_token(words: dict[str, object], now: float) -> int:
    """Larger than that of every earlier holder; where a lost file does not tell what that was, time goes on too."""
    return (_last_token(words) or min(max(0, round(now * 1000)), _MAX_NUMBER // 2)) + 1


def _last_token(words: dict[str, object]) -> int:
    return _number_field(words, "token")


def _is_holder_dead(words: dict[str, object]) -> bool:
    """Whether the file names a process of this machine that is not there any more."""
    if words.get("host") != _hostname() or words.get("space") != _pid_namespace() or not words.get("start"):
        return False
    return _process_start(_number_field(words, "pid")) != words.get("start")


def _holder_from(words: dict[str, object]) -> LeaseHolder:
    if not _number_field(words, "pid"):
        return LeaseHolder()
    return LeaseHolder(
        pid=_number_field(words, "pid"),
        host=str(words.get("host", "")),
        since_ms=_number_field(words, "since"),
        heartbeat_ms=_number_field(words, "heartbeat"),
        token=_last_token(words),
    )


def _locked_error(path: str) -> ConversationLocked:
    who = _holder_from(_read_lock_file(path))
    name = os.path.basename(os.path.dirname(path))
    if not who.pid:
        return ConversationLocked(f"the conversation '{name}' is in use by another process", who)
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(who.since_ms / 1000))
    return ConversationLocked(
        f"the conversation '{name}' is in use by process {who.pid} on {who.host} since {since} UTC", who
    )


def _hostname() -> str:
    return os.uname().nodename


def _pid_namespace() -> str:
    """In which space process numbers count: a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _process_start(pid: int) -> str:
    """When the process of that number began, or nothing: a number is used again, a number with its start is not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in (b"Z", b"X") else words[19].decode()


def _pad(data: bytes) -> bytes:
    return data.ljust(_FILE_WIDTH - 1) + b"\n"
