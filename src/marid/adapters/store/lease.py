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

from marid.adapters.store.files import ADD, as_object, let_go, open_file, read_bytes, unavailable
from marid.core.conversation import Held, Holder
from marid.core.errors import NotFound, Unavailable

_PAUSE = 0.02
# A heartbeat is written over the one before: always the same length.
_WIDTH = 512
# No time, process or count is so large; and a calendar ends before that.
_MOST = 10**14


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
        self._mark = b'{"token": %d, "pid": %d, ' % (token, self._pid)
        self._released = Event()
        self._held = True
        self._write()
        self._thread = Thread(target=self._beat, args=(heartbeat,), daemon=True, name="marid lease")
        if heartbeat > 0:
            self._thread.start()

    @property
    def is_ours(self) -> bool:
        """Whether it was taken by this process: a child that was forked meanwhile has only a copy."""
        return self._pid == os.getpid()

    def check(self) -> None:
        """Raises: Unavailable when the lease is given back, was taken by force, or belongs to the parent process."""
        if not self._held:
            raise Unavailable("the conversation is closed")
        if not self.is_ours:
            raise Unavailable("the conversation was opened by another process")
        try:
            sound = os.path.samestat(os.stat(self._path), self._file)
            sound = sound and os.pread(self._fd, len(self._mark), 0) == self._mark
        except OSError:
            sound = False
        if not sound:
            raise Unavailable("the conversation's lock was taken away; open it again")

    def release(self) -> None:
        """Let others in; the thread ends at once."""
        if not self._held:
            return
        self._held = False
        self._released.set()
        if self._thread.is_alive():
            self._thread.join()
        if not self.is_ours:
            os.close(self._fd)
            return
        with suppress(OSError):
            os.pwrite(self._fd, _padded(b'{"token": %d}' % self.token), 0)
        let_go(self._fd)

    def _beat(self, seconds: float) -> None:
        while not self._released.wait(seconds):
            with suppress(OSError):
                self._write()

    def _write(self) -> None:
        import json

        rest = {"host": _host(), "space": _space(), "start": _start(self._pid), "since": self._since}
        rest["heartbeat"] = round(self._clock() * 1000)
        os.pwrite(self._fd, _padded(self._mark + json.dumps(rest).encode()[1:]), 0)


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
            with _gate(os.path.dirname(path)):
                if (fd := _try(path)) is not None:
                    with _kept(fd):
                        return Lease(path, fd, _next_token(_words(path), clock()), heartbeat, clock)
        except FileNotFoundError:
            raise NotFound(f"there is no conversation '{os.path.basename(os.path.dirname(path))}'") from None
        except OSError as error:
            raise unavailable(f"locking '{path}'", error) from error
        if time.monotonic() >= until:
            raise _held(path)
        time.sleep(_PAUSE)


def holder(path: str) -> Holder | None:
    """Who has the lease now."""
    try:
        # Behind the gate: nobody who wants the lease may meet us in its place.
        with _gate(os.path.dirname(path)):
            fd = open_file(path)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                words = _words(path)
                return None if _gone(words) else _as_holder(words)
            finally:
                let_go(fd)
    except OSError:
        return None
    return None


def was_left(path: str) -> bool:
    """Whether the last holder has not given it back, or has yet to do so."""
    return bool(_number(_words(path), "pid"))


@contextmanager
def _gate(folder: str) -> Generator[None]:
    """One taker at a time: the folder itself is the lock, and it is never replaced."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        let_go(fd)


@contextmanager
def _kept(fd: int) -> Generator[None]:
    """What fails meanwhile closes the descriptor: one that leaks is a lock against ourselves."""
    try:
        yield
    except BaseException:
        os.close(fd)
        raise


def _try(path: str) -> int | None:
    """The locked descriptor, or None when somebody is there."""
    fd = _locked(path)
    if fd is None and _gone(_words(path)):
        # A child of the former holder has inherited its descriptor: it may keep the old file.
        last = _token(_words(path))
        os.unlink(path)
        fd = _locked(path)
        if fd is not None:
            with _kept(fd):
                os.pwrite(fd, _padded(b'{"token": %d}' % last), 0)
    if fd is not None:
        with _kept(fd):
            if not os.path.samestat(os.stat(path), os.fstat(fd)):
                # Whoever has renamed or destroyed the conversation meanwhile let go of this lock.
                raise FileNotFoundError(errno.ENOENT, "another conversation has that name now")
    return fd


def _locked(path: str) -> int | None:
    fd = open_file(path, ADD & ~os.O_APPEND)
    with _kept(fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        else:
            # What an older program has left may be longer than what we write.
            if os.fstat(fd).st_size > _WIDTH:
                os.ftruncate(fd, 0)
            return fd
    os.close(fd)
    return None


def _words(path: str) -> dict[str, object]:
    try:
        return as_object(read_bytes(path) or b"") or {}
    except OSError:
        return {}


def _number(words: dict[str, object], name: str) -> int:
    value = words.get(name)
    return value if type(value) is int and 0 <= value < _MOST else 0


def _next_token(words: dict[str, object], now: float) -> int:
    """Larger than that of every earlier holder; where a lost file does not tell what that was, time goes on too."""
    return (_token(words) or min(max(0, round(now * 1000)), _MOST // 2)) + 1


def _token(words: dict[str, object]) -> int:
    return _number(words, "token")


def _gone(words: dict[str, object]) -> bool:
    """Whether the file names a process of this machine that is not there any more."""
    if words.get("host") != _host() or words.get("space") != _space() or not words.get("start"):
        return False
    return _start(_number(words, "pid")) != words.get("start")


def _as_holder(words: dict[str, object]) -> Holder:
    if not _number(words, "pid"):
        return Holder()
    return Holder(
        pid=_number(words, "pid"),
        host=str(words.get("host", "")),
        since_ms=_number(words, "since"),
        heartbeat_ms=_number(words, "heartbeat"),
        token=_token(words),
    )


def _held(path: str) -> Held:
    who = _as_holder(_words(path))
    name = os.path.basename(os.path.dirname(path))
    if not who.pid:
        return Held(f"the conversation '{name}' is in use by another process", who)
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(who.since_ms / 1000))
    return Held(f"the conversation '{name}' is in use by process {who.pid} on {who.host} since {since} UTC", who)


def _host() -> str:
    return os.uname().nodename


def _space() -> str:
    """In which space process numbers count: a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _start(pid: int) -> str:
    """When the process of that number began, or nothing: a number is used again, a number with its start is not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in (b"Z", b"X") else words[19].decode()


def _padded(data: bytes) -> bytes:
    return data.ljust(_WIDTH - 1) + b"\n"
