"""Write a file completely or not at all."""

import contextlib
import os
from collections.abc import Iterable, Sequence


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
