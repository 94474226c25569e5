"""Files and folders that marid uses for itself, outside of the guard."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Generator, Iterable, Sequence

_OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def write_all(fd: int, buffers: Sequence[bytes]) -> None:
    """Write all `buffers`, repeating short writes."""
    left = [buffer for buffer in buffers if buffer]
    while left:
        done = os.writev(fd, left[:1000])
        at = 0
        while at < len(left) and done >= len(left[at]):
            done -= len(left[at])
            at += 1
        left = left[at:]
        if done:
            left[0] = left[0][done:]


def replace_file(path: str, batches: Iterable[Sequence[bytes]]) -> None:
    """Write `batches` to a temporary file and rename it to `path`; after an error `path` is unchanged."""
    folder, name = os.path.split(os.path.realpath(path))
    # A name may have 255 bytes, and a character up to four.
    temporary = os.path.join(folder, f".{name[:50]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    stream = iter(batches)
    # Make the first batch before the file, so that the walk behind it does not find the file.
    first = next(stream, ())
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(fd, os.stat(path).st_mode & 0o777)
            write_all(fd, first)
            for batch in stream:
                write_all(fd, batch)
        finally:
            os.close(fd)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def make_private_folder(path: str) -> None:
    """Create a folder and its missing parents, all with mode 0700. Raises: OSError."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    make_private_folder(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # else another process was faster
            raise


@contextlib.contextmanager
def lock_folder(path: str) -> Generator[bool]:
    """Lock a folder against other users of this function: whether that worked; some disks have no locks.

    Raises: OSError.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        locked = False
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
            locked = True
        yield locked
    finally:
        os.close(fd)


def read_small_text(path: str, max_bytes: int) -> str:
    """The text of a regular file, without waiting for a pipe in its place.

    Raises: OSError; ValueError if it is too large, not regular or not UTF-8.
    """
    with open(path, "rb", opener=lambda name, _flags: os.open(name, _OPEN_FLAGS)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a regular file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"larger than {max_bytes:,} bytes")
    return data.decode()
