"""The lease to write a conversation: a kernel lock on `.lock`, a file that also names the holder.

No clock decides: the kernel frees the lock of a process that has ended, whatever the file says. If a child of that
process still has the descriptor, the pid and start time in the file decide, and a new file replaces the old one.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from marid.adapters.store import files
from marid.adapters.store.files import lock_and_close, open_file, open_folder
from marid.core.conversation.records import ConversationLocked, LeaseHolder
from marid.core.errors import NotFound, Unavailable

_POLL_INTERVAL = 0.02
# Each heartbeat overwrites the one before, so all have the same length.
_FILE_WIDTH = 512
# Larger than any time in milliseconds, process id or count.
_MAX_NUMBER = 10**14


class Lease:
    """Held from its creation until `release`."""

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
        """Whether this process took it: a forked child has only a copy."""
        return self._pid == os.getpid()

    def check(self) -> None:
        """Raises: Unavailable if the lease was released, taken by force, or belongs to the parent process."""
        if not self._is_held:
            raise Unavailable("the conversation is closed")
        if not self.is_ours:
            raise Unavailable("the conversation was opened by another process")
        try:
            is_same = os.path.samestat(os.stat(self._path), self._file)
            is_same = is_same and os.pread(self._fd, len(self._owner_prefix), 0) == self._owner_prefix
        except OSError:
            is_same = False
        if not is_same:
            raise Unavailable("the conversation's lock was taken by another process; open it again")

    def release(self) -> None:
        """Free the lock and end the heartbeat."""
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
        files.unlock_and_close(self._fd)

    def _heartbeat_loop(self, seconds: float) -> None:
        while not self._release_event.wait(seconds):
            with suppress(OSError):
                self._write_heartbeat()

    def _write_heartbeat(self) -> None:
        rest = process_identity()
        rest |= {"since": self._since, "heartbeat": round(self._clock() * 1000)}
        os.pwrite(self._fd, _pad(self._owner_prefix + json.dumps(rest).encode()[1:]), 0)


def acquire(path: str, *, wait: float, heartbeat: float, clock: Callable[[], float] = time.time) -> Lease:
    """Take the lease with this lock file; a holder that has ended is replaced at once.

    Raises: ConversationLocked if it is not free within `wait` seconds; NotFound if the conversation does not exist;
    Unavailable on a disk error.
    """
    until = time.monotonic() + wait
    while True:
        try:
            # The new holder is written before the next process may read the file: with the old holder in it, which has
            # ended, the lock would seem to be free.
            with lock_and_close(open_folder(os.path.dirname(path))):
                if (fd := _try_acquire(path)) is not None:
                    with _close_on_error(fd):
                        return Lease(path, fd, _next_token(_read_lock_file(path), clock()), heartbeat, clock)
        except FileNotFoundError:
            raise NotFound(f"there is no conversation '{os.path.basename(os.path.dirname(path))}'") from None
        except OSError as error:
            raise files.unavailable(f"locking '{path}'", error) from error
        if time.monotonic() >= until:
            raise _locked_error(path)
        time.sleep(_POLL_INTERVAL)


def current_holder(path: str) -> LeaseHolder | None:
    """The present holder of the lease."""
    # Under the folder's lock: a process that wants the lease must not find it locked by this check.
    with suppress(OSError), lock_and_close(open_folder(os.path.dirname(path))):
        try:
            with lock_and_close(open_file(path), fcntl.LOCK_SH | fcntl.LOCK_NB):
                return None
        except BlockingIOError:
            fields = _read_lock_file(path)
            return None if has_ended(fields) else _holder_from(fields)
    return None


def is_abandoned(path: str) -> bool:
    """Whether the last holder has not released it."""
    return bool(_number_field(_read_lock_file(path), "pid"))


@contextmanager
def _close_on_error(fd: int) -> Generator[None]:
    """Close the descriptor if the block raises: a leaked one would lock out this process itself."""
    try:
        yield
    except BaseException:
        os.close(fd)
        raise


def _try_acquire(path: str) -> int | None:
    """The locked descriptor, or None if the lock is held. Needs the folder's lock, since a folder is never replaced."""
    fd = _try_lock(path)
    if fd is None and has_ended(fields := _read_lock_file(path)):
        # A child of the former holder has inherited the descriptor and may keep the old file.
        os.unlink(path)
        fd = _try_lock(path, _number_field(fields, "token"))
    return fd


def _try_lock(path: str, last_token: int = 0) -> int | None:
    """Lock the file, and write the last token into one that replaces another."""
    fd = open_file(path, files.WRITE_FLAGS)
    with _close_on_error(fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(fd)
            return None
        if not os.path.samestat(os.stat(path), about := os.fstat(fd)):
            # The former holder has renamed or destroyed the conversation.
            raise FileNotFoundError(errno.ENOENT, "another conversation has that name now")
        if about.st_size > _FILE_WIDTH:  # the file of an older program
            os.ftruncate(fd, 0)
        if last_token:
            os.pwrite(fd, _pad(b'{"token": %d}' % last_token), 0)
        return fd


def _read_lock_file(path: str) -> dict[str, object]:
    try:
        return files.parse_object(files.read_bytes(path)) or {}
    except OSError:
        return {}


def _number_field(fields: dict[str, object], name: str) -> int:
    value = fields.get(name)
    return value if type(value) is int and 0 <= value < _MAX_NUMBER else 0


def _next_token(fields: dict[str, object], now: float) -> int:
    """Larger than the token of every earlier holder; based on the time if the lock file was lost."""
    return (_number_field(fields, "token") or min(max(0, round(now * 1000)), _MAX_NUMBER // 2)) + 1


def process_identity() -> dict[str, object]:
    """What tells this process from every other one, with its id."""
    return {"host": os.uname().nodename, "space": _pid_namespace(), "start": _process_start(os.getpid())}


def has_ended(fields: dict[str, object]) -> bool:
    """Whether the fields (`pid`, and those of `process_identity`) name a process of this machine that has ended."""
    if fields.get("host") != os.uname().nodename or fields.get("space") != _pid_namespace() or not fields.get("start"):
        return False
    return _process_start(_number_field(fields, "pid")) != fields.get("start")


def _holder_from(fields: dict[str, object]) -> LeaseHolder:
    pid, since, heartbeat, token = (_number_field(fields, name) for name in ("pid", "since", "heartbeat", "token"))
    return LeaseHolder(pid, str(fields.get("host", "")), since, heartbeat, token) if pid else LeaseHolder()


def _locked_error(path: str) -> ConversationLocked:
    who = _holder_from(_read_lock_file(path))
    name = os.path.basename(os.path.dirname(path))
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(who.since_ms / 1000))
    user = f"process {who.pid} on {who.host} since {since}" if who.pid else "another process"
    return ConversationLocked(f"the conversation '{name}' is in use by {user}", who)


def _pid_namespace() -> str:
    """The namespace of process ids: a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _process_start(pid: int) -> str:
    """When the process started, empty if it has ended: ids are reused, ids with their start time are not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in (b"Z", b"X") else words[19].decode()


def _pad(data: bytes) -> bytes:
    return data.ljust(_FILE_WIDTH - 1) + b"\n"
