"""Read the files that a walk found. They may have changed since, so only what is read counts."""

import os
from collections.abc import Iterable, Iterator
from stat import S_ISREG
from typing import NamedTuple

from marid.text.decode import SNIFF_BYTES, is_binary, to_utf8
from marid.text.display import human_size
from marid.workspace.dirfd_walk import OPEN_FILE_FLAGS, open_file, read_up_to
from marid.workspace.walk import (
    USER_ACCESS,
    Folder,
    FolderAccess,
    OnProblem,
    describe_os_error,
    ignore_problem,
)

# Larger files are sniffed first: most are binary.
LARGE_BYTES = 1_000_000
# Text files are read whole; larger ones are skipped.
HUGE_BYTES = 1 << 30


class Content(NamedTuple):
    """A text file. `data` is UTF-8; `size` is the size on disk, `modified` is in seconds."""

    path: str
    data: bytes
    size: int
    modified: float
    encoding: str


class FileReader:
    """Reads selected files below `top`. Binary files are skipped silently, other failures go to `on_problem`."""

    def __init__(
        self,
        top: str,
        on_problem: OnProblem,
        *,
        skip: tuple[int, int] | None = None,
        access: FolderAccess = USER_ACCESS,
    ) -> None:
        self._top = top
        self._access = access
        self._is_protected = access.is_protected
        self._on_problem = on_problem
        self._skip = skip  # device and inode of our own output
        self._skip_inode = skip[1] if skip else -1
        self.binaries = 0
        self.huge_bytes = 0  # bytes in text files that were too large to read

    def read(self, folders: Iterable[Folder]) -> Iterator[Content]:
        """Every text file of `folders`, in their order."""
        for prefix, names, fd in _open_folders(self._top, folders, self._access, self._on_problem):
            for name in names:
                try:
                    content = self._read_one(prefix + name, name, fd)
                except OSError as error:
                    self._on_problem(prefix + name, describe_os_error(error))
                else:
                    if content is not None:
                        yield content

    def _read_one(self, path: str, name: str, folder: int) -> Content | None:
        # The hot path of every run: 7 µs of system calls and about 2 µs of Python.
        fd = os.open(name, OPEN_FILE_FLAGS, dir_fd=folder)
        try:
            about = os.fstat(fd)
            size = about.st_size
            if self._is_protected is not None and self._is_protected(about):
                self._on_problem(path, "protected: no tool may use it")
                return None
            if 0 < size <= LARGE_BYTES and about.st_ino != self._skip_inode and S_ISREG(about.st_mode):
                raw = os.read(fd, size)
                if len(raw) != size:
                    raw += read_up_to(fd, size - len(raw))
            else:
                raw = self._read_unusual(fd, about, path)
        finally:
            os.close(fd)
        if raw is None:
            return None
        decoded = to_utf8(raw)
        if decoded is None:
            return self._count_binary()
        return Content(path, decoded[0], len(raw), about.st_mtime, decoded[1])

    def _read_unusual(self, fd: int, about: os.stat_result, path: str) -> bytes | None:
        """The bytes of a file that is empty or large; None for our own output and what is not a file."""
        if not S_ISREG(about.st_mode):
            self._on_problem(path, "not a regular file")
            return None
        if self._skip == (about.st_dev, about.st_ino):
            return None
        if about.st_size > LARGE_BYTES and is_binary(os.pread(fd, SNIFF_BYTES, 0)):
            return self._count_binary()
        if about.st_size > HUGE_BYTES:
            self._on_problem(path, f"larger than {human_size(HUGE_BYTES)}")
            self.huge_bytes += about.st_size
            return None
        return read_up_to(fd, about.st_size) if about.st_size else b""

    def _count_binary(self) -> None:
        self.binaries += 1


class FileSize(NamedTuple):
    """A selected file before it is read."""

    path: str
    size: int


def measure_files(top: str, folders: Iterable[Folder], access: FolderAccess = USER_ACCESS) -> Iterator[FileSize]:
    """Every selected file with its size; a large binary file, which will be skipped, has size 0."""
    # Folders that cannot be opened are reported when they are read.
    for prefix, names, fd in _open_folders(top, folders, access):
        for name in names:
            try:
                size = os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
                yield FileSize(prefix + name, 0 if size > LARGE_BYTES and _is_binary(name, fd) else size)
            except OSError:
                continue


def _open_folders(
    top: str, folders: Iterable[Folder], access: FolderAccess, on_problem: OnProblem = ignore_problem
) -> Iterator[tuple[str, list[str], int]]:
    """The prefix of paths, the names and the descriptor of each folder."""
    with access.open(top) as walk:
        for path, names in folders:
            try:
                fd = walk.follow(path.split("/") if path else [])
            except OSError as error:
                on_problem(path, describe_os_error(error))
                continue
            yield f"{path}/" if path else "", names, fd


def _is_binary(name: str, folder: int) -> bool:
    opened = open_file(name, folder)
    if opened is None:
        return True
    try:
        return is_binary(os.read(opened[0], SNIFF_BYTES))
    finally:
        os.close(opened[0])
