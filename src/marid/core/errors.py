"""The errors that we raise on purpose: five families, by what the reader can do about them, and their exit codes.

Anything else that escapes is a bug. Each face maps `code` to its wire in one table.
"""

from types import MappingProxyType
from typing import ClassVar, cast


class MaridError(Exception):
    """The message is for a person, `code` for a program, and `exit_status` is what a process ends with."""

    code: ClassVar[str] = "internal"
    exit_status: ClassVar[int] = 70


class BadInput(MaridError):
    """The request is wrong; change it, then try again."""

    code = "bad_input"
    exit_status = 2


class Refused(MaridError):
    """A guard said no; trying again will not help."""

    code = "refused"
    exit_status = 3


class OutsideRoots(Refused):
    """`path` is outside the roots; a person may allow it."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class NotFound(MaridError):
    """The named thing does not exist."""

    code = "not_found"
    exit_status = 4


class Exhausted(MaridError):
    """A budget ran out: time, tokens, bytes."""

    code = "exhausted"
    exit_status = 5


class Unavailable(MaridError):
    """Something outside failed: git, the disk, a child process."""

    code = "unavailable"
    exit_status = 6


def unwrap_group(error: Exception) -> Exception:
    """The single error of a group, which task groups raise even for one error; otherwise the error itself."""
    if not isinstance(error, ExceptionGroup):
        return error
    group = cast("ExceptionGroup[Exception]", error)
    return unwrap_group(group.exceptions[0]) if len(group.exceptions) == 1 else group


FAMILIES = (BadInput, Refused, NotFound, Exhausted, Unavailable)
EXIT_STATUS = MappingProxyType({family.code: family.exit_status for family in (*FAMILIES, MaridError)})
INTERRUPTED_STATUS = 130


def exit_code(error: Exception) -> int:
    """The exit code of an error; any error that is not ours is a bug."""
    return (error if isinstance(error, MaridError) else MaridError).exit_status
