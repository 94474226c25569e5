"""Every error we raise on purpose, told apart by what the reader can do about it.

MaridError            catch this to catch us
├── BadInput         the request is wrong; change it, then try again
├── Refused          a guard said no; trying again will not help
├── NotFound         the named thing is not there
├── Exhausted        a budget ran out: time, tokens, bytes
└── Unavailable      a neighbour failed: git, disk, a child process

Anything else that escapes is a bug, code `internal`. Each face maps codes to its wire in one table.
"""

from typing import ClassVar, cast


class MaridError(Exception):
    """What went wrong, in words for a person, and `code` for a program."""

    code: ClassVar[str] = "internal"


class BadInput(MaridError):
    """The request is wrong; change it, then try again."""

    code = "bad_input"


class Refused(MaridError):
    """A guard said no; trying again will not help."""

    code = "refused"


class OutsideRoots(Refused):
    """A path leads out of the roots; a person may open `path`."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class NotFound(MaridError):
    """The named thing is not there."""

    code = "not_found"


class Exhausted(MaridError):
    """A budget ran out: time, tokens, bytes."""

    code = "exhausted"


class Unavailable(MaridError):
    """A neighbour failed: git, disk, a child process."""

    code = "unavailable"


def unwrap_group(error: Exception) -> Exception:
    """The error itself: tasks that ran at once bring theirs as a group, also when there is only one."""
    if not isinstance(error, ExceptionGroup):
        return error
    group = cast("ExceptionGroup[Exception]", error)
    return unwrap_group(group.exceptions[0]) if len(group.exceptions) == 1 else group


FAMILIES = (BadInput, Refused, NotFound, Exhausted, Unavailable)
CODES = (*(family.code for family in FAMILIES), MaridError.code)
