"""Writing a file whole or not at all."""

import contextlib
import os
from collections.abc import Iterable, Sequence


def write_all(fd: int, buffers: Sequence[bytes]) -> None:
    """Write every byte of `buffers`, however little the other side takes at a time."""
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
    """Write `batches` beside `path` and then put them in its place; whatever goes wrong, `path` stays as it was.

    Raises: OSError when the folder cannot be written.
    """
    folder, name = os.path.split(os.path.realpath(path))
    # A name has at most 255 bytes, a letter up to four.
    temporary = os.path.join(folder, f".{name[:50]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    stream = iter(batches)
    # The first is made before the file is: a walk that makes it must not find the file.
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
