"""Folders that nobody but their owner looks into."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress


def make_private_folder(path: str) -> None:
    """Have a folder; what has to be made for it is private too, which `os.makedirs` leaves open. Raises: OSError."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    make_private_folder(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # else another was faster
            raise


@contextmanager
def lock_folder(path: str) -> Generator[None]:
    """One at a time in a folder, among all who ask this way; where a disk knows no locks, without. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
