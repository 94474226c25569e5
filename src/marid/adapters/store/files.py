"""Files that are replaced as a whole, JSON objects in them, and disk errors as errors of ours."""

import errno
import fcntl
import json
import os
import re
import stat
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeGuard, cast

from marid.core.conversation.records import Corrupt
from marid.core.errors import Unavailable
from marid.workspace.plain_files import write_all

_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: opening a pipe in place of a file would wait for ever.
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
APPEND_FLAGS = WRITE_FLAGS | os.O_APPEND
# The names that `write_atomic` gives to temporary files, with the process id.
_TEMPORARY = re.compile(r"\..+\.([1-9][0-9]*)\.[0-9a-f]{8}\.tmp")
# No file of a home gets that large by use: partitions are much smaller.
MAX_FILE_BYTES = 1 << 30
# Far below Python's own recursion limit wherever we are called from, far above any honest value.
MAX_DEPTH = 200
_MAX_TIME = 10**14


class disk_errors:  # noqa: N801 (read as a verb: with disk_errors("reading ..."))
    """Raises OSError as Unavailable, saying what was being done. A class, since it is on the path of every append."""

    def __init__(self, action: str) -> None:
        self._action = action

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise unavailable(self._action, error) from error


def unavailable(action: str, error: OSError) -> Unavailable:
    """The error to raise for a disk error."""
    return Unavailable(f"{action} failed: {error.strerror or error}")


def open_file(path: str, flags: int = READ_FLAGS) -> int:
    """A descriptor of a regular file of at most 1 GB; links, pipes and devices are refused. Raises: OSError."""
    try:
        fd = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, f"'{path}' is a symbolic link") from error
        raise
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_FILE_BYTES:
        os.close(fd)
        why = "is larger than 1 GB" if stat.S_ISREG(about.st_mode) else "is not a regular file"
        raise OSError(errno.EINVAL, f"'{path}' {why}")
    return fd


def read_bytes(path: str) -> bytes | None:
    """The whole file, or None if it does not exist. Raises: OSError."""
    try:
        return read_tail(path)[0]
    except FileNotFoundError:
        return None


def read_tail(path: str, most: int = MAX_FILE_BYTES) -> tuple[bytes, os.stat_result]:
    """The last bytes of a file, and its status when they were read. Raises: OSError."""
    with os.fdopen(open_file(path), "rb") as file:
        about = os.fstat(file.fileno())
        start = file.seek(max(0, about.st_size - most))
        return file.read(about.st_size - start), about


def file_size(path: str) -> int:
    """The size of a file, -1 if it has none."""
    with suppress(OSError):
        return os.stat(path).st_size
    return -1


def write_atomic(path: str, data: bytes, *, durable: bool = True) -> None:
    """Replace the file: after a crash it has the old or the new content, or none without `durable`. Raises: OSError."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    fd = os.open(temporary, _NEW_FLAGS, 0o600)
    try:
        try:
            write_all(fd, [data])
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        sync_folder(folder)


def append_bytes(path: str, data: bytes) -> None:
    """Append all of it, or leave the file as it was: on a full disk a part of a line would be left. Raises: OSError."""
    fd = open_file(path, APPEND_FLAGS)
    try:
        size = os.lseek(fd, 0, os.SEEK_END)
        try:
            write_all(fd, [data])
        except OSError:
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)


def remove_leftovers(folder: str) -> None:
    """Remove the temporary files of processes that no longer run."""
    with suppress(OSError):
        for name in os.listdir(folder):
            found = _TEMPORARY.fullmatch(name)
            if found and _is_dead_process(int(found[1])):
                remove_if_exists(os.path.join(folder, name))


def _is_dead_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, PermissionError)
    return False


def open_folder(path: str) -> int:
    """A descriptor of a folder. Raises: OSError."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def sync_folder(path: str) -> None:
    """Make the names in a folder durable. Raises: OSError."""
    fd = open_folder(path)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def file_lock(path: str, *, wait: bool = True) -> AbstractContextManager[None]:
    """Exclude other processes, for moments only. Raises: OSError; BlockingIOError without `wait`."""
    return lock_and_close(open_file(path, APPEND_FLAGS), fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def lock_and_close(fd: int, mode: int = fcntl.LOCK_EX) -> Generator[None]:
    """Lock a descriptor for the time of a block, at whose end it is closed. Raises: OSError."""
    try:
        fcntl.flock(fd, mode)
        yield
    finally:
        unlock_and_close(fd)


def unlock_and_close(fd: int) -> None:
    """Free the lock and close the descriptor: a forked child with a copy of it would keep the lock."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def remove_if_exists(path: str) -> None:
    """Raises: OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def check_depth(text: str | bytes, *values: object) -> None:
    """Raises: ValueError if one of the values, parsed from `text` or written as it, is nested too deep."""
    # Counting brackets is cheap, and few texts have that many.
    openings = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if openings <= MAX_DEPTH:
        return
    level: list[object] = [values]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inner_containers(outer)]
    if level:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


def _inner_containers(outer: object) -> list[object]:
    items = cast("Mapping[str, object]", outer).values() if isinstance(outer, Mapping) else cast("list[object]", outer)
    return [item for item in items if isinstance(item, Mapping | list | tuple)]


def parse_object(data: bytes | None) -> dict[str, object] | None:
    """The JSON object, or None if the bytes are not one that could be written again."""
    try:
        found = json.loads(data or b"")
        check_depth(data or b"", found)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def require_object(path: str, data: bytes) -> dict[str, object]:
    """The content of that file. Raises: Corrupt if it is not an object."""
    found = parse_object(data)
    if found is None:
        raise Corrupt(f"'{path}' is not a JSON object; repair it or remove it")
    return found


def pretty_json(value: object) -> bytes:
    """Indented JSON, in the format of Chibi's own files."""
    return json.dumps(value, indent=2).encode() + b"\n"


def integers(value: object) -> list[int]:
    """The integers in a list; empty if it is not a list."""
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in found if type(item) is int]


def is_time(value: object) -> TypeGuard[int]:
    """Whether a number can be a time: others make `time.gmtime` fail."""
    return type(value) is int and 0 <= value < _MAX_TIME
