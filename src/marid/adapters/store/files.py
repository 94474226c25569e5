"""Files that are whole or not there, and the disk's complaints in our words."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import cast

from marid.core.conversation import Corrupt
from marid.core.errors import Unavailable
from marid.workspace.replace import write_all

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
ADD = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class told:  # noqa: N801 (read as a verb: with told("reading ..."))
    """Turns what the disk says into Unavailable, which says what was being done."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise unavailable(self._doing, error) from error


def unavailable(doing: str, error: OSError) -> Unavailable:
    """What the disk said, with what was being done."""
    return Unavailable(f"{doing} failed: {error.strerror or error}")


def read_bytes(path: str) -> bytes | None:
    """The whole file, or None when there is none. Raises: OSError."""
    try:
        fd = os.open(path, READ)
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
    if data is None:
        return None
    found = as_object(data)
    if found is None:
        raise Corrupt(f"'{path}' is not a JSON object; repair it or remove it")
    return found


def as_object(data: bytes) -> dict[str, object] | None:
    """The JSON object that these bytes are, if they are one."""
    import json

    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def pretty(value: object) -> bytes:
    """JSON for people, as the documents' programs write it."""
    import json

    return json.dumps(value, indent=2).encode() + b"\n"


def write_whole(path: str, data: bytes, *, durable: bool = True) -> None:
    """Put `data` in the place of the file; whatever happens, the old or the new content is there. Raises: OSError.

    What is not `durable` may be empty after a power cut.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    fd = os.open(temporary, NEW, 0o600)
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


def make_folder(path: str) -> None:
    """Make the folder, and those above it that are missing, for its owner alone. Raises: OSError."""
    try:
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        make_folder(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def sync_folder(path: str) -> None:
    """Make the names in a folder last. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def locked(path: str) -> Generator[None]:
    """One at a time, among all processes; for moments only. Raises: OSError."""
    fd = os.open(path, ADD, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def remove(path: str) -> None:
    """Remove the file if it is there. Raises: OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path)
