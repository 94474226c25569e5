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

from marid.adapters.store.files import ADD, READ, as_object, read_bytes, unavailable
from marid.core.conversation import Held, Holder
from marid.core.errors import Unavailable

_PAUSE = 0.02
# A heartbeat is written over the one before: always the same length.
_WIDTH = 512


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
        self._write()
        self._thread = Thread(target=self._beat, args=(heartbeat,), daemon=True, name="marid lease")
        if heartbeat > 0:
            self._thread.start()

    def check(self) -> None:
        """Raises: Unavailable when the lease is given back, was taken by force, or belongs to the parent process."""
        if self._released.is_set():
            raise Unavailable("the conversation is closed")
        if self._pid != os.getpid():
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
        if self._released.is_set():
            return
        self._released.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(OSError):
            if self._pid == os.getpid():
                os.pwrite(self._fd, _padded(b'{"token": %d}' % self.token), 0)
        os.close(self._fd)

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

    Raises: Held when it is not free within `wait` seconds; Unavailable when the disk does not allow it.
    """
    until = time.monotonic() + wait
    while True:
        try:
            with _gate(os.path.dirname(path)):
                got = _try(path)
            if got is not None:
                return Lease(path, *got, heartbeat, clock)
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
            fd = os.open(path, READ)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                words = _words(path)
                return None if _gone(words) else _as_holder(words)
            finally:
                os.close(fd)
    except OSError:
        return None
    return None


@contextmanager
def _gate(folder: str) -> Generator[None]:
    """One taker at a time: the folder itself is the lock, and it is never replaced."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _try(path: str) -> tuple[int, int] | None:
    """The locked descriptor and the next token, or None when somebody is there."""
    fd = _locked(path)
    if fd is None and _gone(_words(path)):
        # A child of the former holder has inherited its descriptor: it may keep the old file.
        last = _token(_words(path))
        os.unlink(path)
        fd = _locked(path)
        if fd is not None:
            os.pwrite(fd, _padded(b'{"token": %d}' % last), 0)
    if fd is None:
        return None
    return fd, _token(_words(path)) + 1


def _locked(path: str) -> int | None:
    fd = os.open(path, ADD & ~os.O_APPEND, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise
    # What an older program has left may be longer than what we write.
    if os.fstat(fd).st_size > _WIDTH:
        os.ftruncate(fd, 0)
    return fd


def _words(path: str) -> dict[str, object]:
    try:
        return as_object(read_bytes(path) or b"") or {}
    except OSError:
        return {}


def _number(words: dict[str, object], name: str) -> int:
    value = words.get(name)
    return value if type(value) is int else 0


def _token(words: dict[str, object]) -> int:
    return max(0, _number(words, "token"))


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
