"""Open a name beneath a folder: with openat2 where the kernel has it (Linux 5.6), else step by step without links."""

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
"""Opens a relative name beneath a folder without following links; never creates a file. Raises: OSError."""

# Enough to pass through a folder or to stat a file; needs no read permission.
PATH_ONLY: int = getattr(os, "O_PATH", os.O_RDONLY)
FOLDER_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENAT2 = 437  # the same number on every architecture
_NO_MAGIC, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_MAX_ATTEMPTS = 64
_MAX_LINKS = 40
# Does not wait for the other end of a pipe or take a controlling terminal.
_BASE_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_REFUSALS = {
    errno.EXDEV: "leads outside the project",
    errno.ELOOP: "symbolic link not followed",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "read-only file system",
    errno.EBADF: "the project has been closed",
}
_INPUT_ERRORS = {
    errno.ENAMETOOLONG: "path too long",
    errno.ENXIO: "not a regular file",
    errno.ENODEV: "not a regular file",
    errno.EISDIR: "a folder, not a file",
}


@cache
def _syscall() -> Any:
    return ctypes.CDLL(None, use_errno=True).syscall


def open_with_openat2(root: int, name: str, flags: int) -> int:
    """One call of openat2, repeated while folders on the way are renamed."""
    # Without O_NOFOLLOW: with O_PATH it would open the link itself.
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
    """Open one folder after the other. With `permit`, links that stay beneath `root` are followed.

    `permit` is called with the resolved name before it is opened, and may raise.
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
        # The name ends with a dot: the folder is open for passing only.
        judge("/".join(names) or ".")
        return os.open(".", _effective_flags(flags), dir_fd=passed[-1])
    finally:
        for fd in passed:
            os.close(fd)


def _permit_any(_name: str) -> None:
    """Without links the name is the given one, which was checked."""


def open_component(folder: int, part: str, flags: int) -> int | str:
    """Open one name in an open folder; for a link return its target instead. Raises: OSError."""
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
    """`flags` with those that always apply; openat2 rejects most of them together with O_PATH."""
    return flags | (os.O_CLOEXEC if PATH_ONLY and flags & PATH_ONLY else _BASE_FLAGS)


def _link_parts(target: str, left: int) -> list[str]:
    """The parts of a link's target, last one first."""
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
    """Whether openat2 works: old kernels lack it, old sandboxes forbid it."""
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
    """The faster opener that works here."""
    return open_with_openat2 if has_openat2() else open_stepwise


def make_os_error(code: int) -> OSError:
    """The error that the system raises for `code`."""
    return OSError(code, os.strerror(code))


def to_marid_error(error: OSError, given: str) -> MaridError:
    """The marid error for a path that could not be opened or written; it names `given` only."""
    shown = quote_path(given)
    code = error.errno
    if code in (errno.ENOENT, errno.ENOTDIR):
        return NotFound(f"{shown}: not found")
    if code in _REFUSALS:
        return Refused(f"{shown}: {_REFUSALS[code]}")
    if code in _INPUT_ERRORS:
        return BadInput(f"{shown}: {_INPUT_ERRORS[code]}")
    busy = code in (errno.EAGAIN, errno.EBUSY, errno.ESTALE)
    return Unavailable(f"{shown}: {'busy; try again' if busy else (error.strerror or 'unknown error').lower()}")
