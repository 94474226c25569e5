"""Walk folders by descriptor, so that links are not followed and paths may be of any length."""

import os
import stat
from collections.abc import Callable
from typing import TypeAlias

Identity: TypeAlias = tuple[int, int]
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# On Linux, O_PATH needs no permission to list a folder; macOS has one flag against links in the whole path.
_FOLDER_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: int = getattr(os, "O_NOFOLLOW_ANY", 0)
# Does not follow a link, and does not wait for the other end of a pipe.
OPEN_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Folders kept open; in deeper trees the upper ones are closed and reopened when needed.
_MAX_OPEN = 200


class MountLoop(OSError):
    """A folder is one of its own parents: a bind mount."""


class DirfdWalk:
    """The open folders on the way down from `top`: a path without links, or a descriptor, which it then owns."""

    def __init__(self, top: str | int) -> None:
        fd = top if isinstance(top, int) else _open_top(top)
        self._fds: list[int | None] = [fd]
        self._names: list[str] = [""]
        self._identities: list[Identity] = [identity_of(fd)]

    def __enter__(self) -> "DirfdWalk":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._close_deeper(0)

    def enter(self, depth: int, name: str) -> int:
        """Open `name` in the folder at `depth - 1`; closes deeper ones. Raises: OSError, as for a link; MountLoop."""
        self._close_deeper(depth)
        fd = os.open(name, _FOLDER_FLAGS, dir_fd=self._fd_at(depth - 1))
        identity = identity_of(fd)
        if identity in self._identities:
            os.close(fd)
            raise MountLoop(f"{name} is mounted inside itself")
        self._fds.append(fd)
        self._names.append(name)
        self._identities.append(identity)
        if depth > _MAX_OPEN and (old := self._fds[depth - _MAX_OPEN]) is not None:
            os.close(old)
            self._fds[depth - _MAX_OPEN] = None
        return fd

    def follow(self, parts: list[str]) -> int:
        """The descriptor of the folder that `parts` name below the top; folders on the way stay open."""
        shared = 0
        while shared < len(parts) and shared + 1 < len(self._names) and self._names[shared + 1] == parts[shared]:
            shared += 1
        self._close_deeper(shared + 1)
        for depth, name in enumerate(parts[shared:], shared + 1):
            self.enter(depth, name)
        return self._fd_at(len(parts))

    def _close_deeper(self, length: int) -> None:
        while len(self._fds) > length:
            self._names.pop()
            self._identities.pop()
            if (fd := self._fds.pop()) is not None:
                os.close(fd)

    def _fd_at(self, depth: int) -> int:
        fd = self._fds[depth]
        if fd is not None:
            return fd
        at = depth
        while (fd := self._fds[at]) is None:
            at -= 1
        fd = os.dup(fd)
        for name in self._names[at + 1 : depth + 1]:
            try:
                following = os.open(name, _FOLDER_FLAGS, dir_fd=fd)
            finally:
                os.close(fd)
            fd = following
        self._fds[depth] = fd
        return fd


def _open_top(path: str) -> int:
    """Open a folder through no link: the caller has resolved them, so one that is there now was put there since."""
    if _NO_LINKS:
        return os.open(path, _FOLDER_FLAGS | _NO_LINKS)
    *above, name = [part for part in path.split("/") if part] or ["."]
    fd = os.open("/" if path.startswith("/") else ".", _FOLDER_PATH_ONLY)
    try:
        for part in above:
            following = os.open(part, _FOLDER_PATH_ONLY, dir_fd=fd)
            os.close(fd)
            fd = following
        return os.open(name, _FOLDER_FLAGS, dir_fd=fd)
    finally:
        os.close(fd)


def open_file(name: str, folder: int | None, flags: int = OPEN_FILE_FLAGS) -> tuple[int, os.stat_result] | None:
    """Open a regular file without following a link or waiting for a pipe; None if it is not one. Raises: OSError."""
    fd = os.open(name, flags, dir_fd=folder)
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        return None
    return fd, about


def read_regular(
    name: str,
    folder: int | None,
    limit: int,
    *,
    flags: int = OPEN_FILE_FLAGS,
    is_refused: Callable[[os.stat_result], bool] | None = None,
) -> bytes | None:
    """The bytes of a regular file; None if it is not one, refused or larger than `limit`. Raises: OSError."""
    opened = open_file(name, folder, flags)
    if opened is None:
        return None
    fd, about = opened
    try:
        if about.st_size > limit or (is_refused is not None and is_refused(about)):
            return None
        return read_all(fd, about.st_size, limit)
    finally:
        os.close(fd)


def read_all(fd: int, size: int, limit: int) -> bytes | None:
    """The whole file, even if it is longer than `size`; None above `limit`. Raises: OSError."""
    data = os.read(fd, size + 1)
    if len(data) != size:  # it changed meanwhile, or its size is not known, as in /proc
        data += read_up_to(fd, limit + 1 - len(data))
    return data if len(data) <= limit else None


def read_up_to(fd: int, limit: int) -> bytes:
    """Read up to `limit` bytes, fewer only at the end of the file."""
    pieces: list[bytes] = []
    while limit > 0 and (data := os.read(fd, limit)):
        pieces.append(data)
        limit -= len(data)
    return b"".join(pieces)


def identity_of(file: int | str) -> Identity:
    """Device and inode of an open file, or of the one that a path leads to. Raises: OSError."""
    about = os.stat(file)
    return about.st_dev, about.st_ino
