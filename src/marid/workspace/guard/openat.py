"""Opening a name beneath a folder: by the kernel where it can (Linux 5.6), else step by step, past no link."""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from marid.core.errors import BadInput, MaridError, NotFound, Refused, Unavailable
from marid.text.display import quote_path

OpenBeneath: TypeAlias = Callable[[int, str, int], int]
"""Opens a relative name beneath a folder, through no link at all; the flags never create. Raises: OSError."""

# Enough to pass through a folder or to look at a file: needs no permission to read it.
PATH_ONLY: int = getattr(os, "O_PATH", os.O_RDONLY)
FOLDER_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENAT2 = 437  # the same number on every architecture
_NO_MAGIC, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_MAX_ATTEMPTS = 64
_MAX_LINKS = 40
# Neither waits for the other end of a pipe nor makes a terminal ours.
_BASE_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_REFUSALS = {
    errno.EXDEV: "leads outside the project",
    errno.ELOOP: "leads through a link that may not be followed",
    errno.EACCES: "may not be used: no permission",
    errno.EPERM: "may not be used: no permission",
    errno.EROFS: "cannot be written: the file system is read-only",
    errno.EBADF: "is in a project that has been closed",
}
_MISTAKES = {
    errno.ENAMETOOLONG: "is too long for a path",
    errno.ENXIO: "is not a regular file",
    errno.ENODEV: "is not a regular file",
    errno.EISDIR: "is a folder, not a file",
}


@cache
def _syscall() -> Any:
    return ctypes.CDLL(None, use_errno=True).syscall


def open_with_openat2(root: int, name: str, flags: int) -> int:
    """One call of openat2, repeated while somebody renames folders on the way."""
    # Without O_NOFOLLOW, by which a link itself could be opened for passing.
    how = struct.pack("QQQ", _effective_flags(flags), 0, _BENEATH | _NO_MAGIC | _NO_SYMLINKS)
    path = os.fsencode(name)
    call = _syscall()
    code = errno.EAGAIN
    for _ in range(_MAX_ATTEMPTS):
        fd = int(call(_OPENAT2, root, path, how, len(how)))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise make_os_error(code)


def open_stepwise(root: int, name: str, flags: int, permit: Callable[[str], None] | None = None) -> int:
    """One folder after the other. With `permit`, links are followed as long as they stay beneath `root`.

    `permit` hears the name that the links lead to before that is opened, and may raise.
    """
    passed = [os.dup(root)]
    names: list[str] = []
    parts = name.split("/")[::-1]
    left = _MAX_LINKS if permit else 0
    judge = permit or _permit_any
    try:
        while parts:
            part = parts.pop()
            if part == "..":
                _go_up(passed, names)
            if part in ("", ".", ".."):
                continue
            last = all(rest in ("", ".") for rest in parts)
            if last:
                judge("/".join([*names, part]))
            step = open_component(passed[-1], part, flags if last else os.O_DIRECTORY | PATH_ONLY)
            if isinstance(step, str):
                parts += _link_parts(step, left)
                left -= 1
            elif last:
                return step
            else:
                passed.append(step)
                names.append(part)
        # It ended in a dot: this folder has only been passed through.
        judge("/".join(names) or ".")
        return os.open(".", _effective_flags(flags), dir_fd=passed[-1])
    finally:
        for fd in passed:
            os.close(fd)


def _permit_any(_name: str) -> None:
    """Without links, the name is the one that was given."""


def open_component(folder: int, part: str, flags: int) -> int | str:
    """What `part`, a name in an open folder, is opened as; or, if it is a link, where that leads. Raises: OSError."""
    try:
        fd = os.open(part, _effective_flags(flags) | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        try:
            return os.readlink(part, dir_fd=folder)
        except OSError:
            raise error from None
    if PATH_ONLY and flags & PATH_ONLY and stat.S_ISLNK(os.fstat(fd).st_mode):
        os.close(fd)
        return os.readlink(part, dir_fd=folder)
    return fd


def _effective_flags(flags: int) -> int:
    """`flags` and what always holds; a descriptor that only passes takes hardly any others (openat2 is strict)."""
    return flags | (os.O_CLOEXEC if PATH_ONLY and flags & PATH_ONLY else _BASE_FLAGS)


def _link_parts(target: str, left: int) -> list[str]:
    """The steps of a link, last one first."""
    if not left:
        raise make_os_error(errno.ELOOP)
    if target.startswith("/"):
        raise make_os_error(errno.EXDEV)
    return target.split("/")[::-1]


def _go_up(passed: list[int], names: list[str]) -> None:
    if not names:
        raise make_os_error(errno.EXDEV)
    names.pop()
    os.close(passed.pop())


@cache
def has_openat2(opening: OpenBeneath = open_with_openat2, platform: str = sys.platform) -> bool:
    """Whether openat2 is there and may be called: old kernels lack it, old sandboxes forbid it."""
    if platform != "linux":
        return False
    root = os.open("/", PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(opening(root, ".", PATH_ONLY))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


def default_opener() -> OpenBeneath:
    """The fastest way that this machine has."""
    return open_with_openat2 if has_openat2() else open_stepwise


def make_os_error(code: int) -> OSError:
    """The error as the system would raise it."""
    return OSError(code, os.strerror(code))


def to_marid_error(error: OSError, given: str) -> MaridError:
    """The error of our families for a path that could not be opened or written; names `given` and nothing else."""
    shown = f"'{quote_path(given)}'"
    code = error.errno
    if code in (errno.ENOENT, errno.ENOTDIR):
        return NotFound(f"{shown} is not there")
    if code in _REFUSALS:
        return Refused(f"{shown} {_REFUSALS[code]}")
    if code in _MISTAKES:
        return BadInput(f"{shown} {_MISTAKES[code]}")
    if code in (errno.EAGAIN, errno.EBUSY, errno.ESTALE):
        return Unavailable(f"{shown} is being moved about; try again")
    return Unavailable(f"{shown} cannot be used: {(error.strerror or 'unknown error').lower()}")
