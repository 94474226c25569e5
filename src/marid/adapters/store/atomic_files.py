"""Files that are whole or not there, and the disk's complaints in our words."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import cast

from marid.adapters.store.json_depth import check_depth
from marid.core.conversation.records import Corrupt
from marid.core.errors import Unavailable
from marid.workspace.write.atomic import write_all

NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Without a wait: a pipe in the place of a file would let us wait for ever.
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
APPEND_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# As `write_atomic` calls what it writes.
_TEMPORARY = re.compile(r"\..+\.([1-9][0-9]*)\.[0-9a-f]{8}\.tmp")
# No file of a home becomes so large by use: partitions are begun long before.
MAX_FILE_BYTES = 1 << 30


class disk_errors:  # noqa: N801 (read as a verb: with told("reading ..."))
    """Turns what the disk says into Unavailable, which says what was being done."""

    def __init__(self, doing: str) -> None:
        self._action = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise unavailable(self._action, error) from error


def unavailable(doing: str, error: OSError) -> Unavailable:
    """What the disk said, with what was being done."""
    return Unavailable(f"{doing} failed: {error.strerror or error}")


def open_file(path: str, flags: int = READ_FLAGS) -> int:
    """A descriptor of a real file, not of a link, a pipe or a device, nor of one without end. Raises: OSError."""
    try:
        fd = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, f"'{path}' is a symbolic link") from error
        raise
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_FILE_BYTES:
        os.close(fd)
        why = "is larger than 1 GB" if stat.S_ISREG(about.st_mode) else "is no regular file"
        raise OSError(errno.EINVAL, f"'{path}' {why}")
    return fd


def read_bytes(path: str) -> bytes | None:
    """The whole file, or None when there is none. Raises: OSError."""
    try:
        fd = open_file(path)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()


def read_text(path: str) -> str:
    """The file as text, empty when there is none. Raises: OSError."""
    return (read_bytes(path) or b"").decode("utf-8", "replace")


def read_object(path: str) -> dict[str, object] | None:
    """A file that is one JSON object, or None when there is none. Raises: OSError; Corrupt when it is no object."""
    data = read_bytes(path)
    return None if data is None else require_object(path, data)


def require_object(path: str, data: bytes) -> dict[str, object]:
    """What that file holds. Raises: Corrupt when it is no object."""
    found = parse_object(data)
    if found is None:
        raise Corrupt(f"'{path}' is not a JSON object; repair it or remove it")
    return found


def parse_object(data: bytes) -> dict[str, object] | None:
    """The JSON object that these bytes are, if they are one that could be written again."""
    import json

    try:
        found = json.loads(data)
        check_depth(data, found)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def pretty_json(value: object) -> bytes:
    """JSON for people, as the documents' programs write it."""
    import json

    return json.dumps(value, indent=2).encode() + b"\n"


def write_atomic(path: str, data: bytes, *, durable: bool = True) -> None:
    """Put `data` in the place of the file; whatever happens, the old or the new content is there. Raises: OSError.

    What is not `durable` may be empty after a power cut.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    fd = os.open(temporary, NEW_FLAGS, 0o600)
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


def remove_leftovers(folder: str) -> None:
    """Remove what processes that are gone had begun to put in the place of files."""
    with suppress(OSError):
        for name in os.listdir(folder):
            found = _TEMPORARY.fullmatch(name)
            if found and _is_dead_process(int(found[1])):
                remove_if_exists(os.path.join(folder, name))


def _is_dead_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def sync_folder(path: str) -> None:
    """Make the names in a folder last. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def file_lock(path: str, *, wait: bool = True) -> Generator[None]:
    """One at a time, among all processes; for moments only. Raises: OSError, BlockingIOError who does not wait."""
    fd = open_file(path, APPEND_FLAGS)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        unlock_and_close(fd)


def unlock_and_close(fd: int) -> None:
    """Close a descriptor and free its lock; a child that was forked meanwhile has it too, and would keep the lock."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def remove_if_exists(path: str) -> None:
    """Remove the file if it is there. Raises: OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path)
