"""Folders with access for their owner only."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress


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


@contextmanager
def lock_folder(path: str) -> Generator[None]:
    """Lock a folder against other users of this function; without effect on disks without locks. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
