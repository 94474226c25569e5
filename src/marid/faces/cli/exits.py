"""Errors on the command line: what is said, and the exit code."""

import os
import stat
import sys
from types import MappingProxyType

from marid.core.errors import MaridError

STATUS = MappingProxyType(
    {"bad_input": 2, "refused": 3, "not_found": 4, "exhausted": 5, "unavailable": 6, "internal": 70}
)
INTERRUPTED = 130


def exit_code(error: Exception) -> int:
    """The exit code of an error; anything that is not ours is a bug."""
    return STATUS[error.code if isinstance(error, MaridError) else MaridError.code]


def say(line: str) -> None:
    """A line for the person, on stderr, so that stdout holds results only."""
    show(f"marid: {line}\n")


def show(text: str) -> None:
    """Text on stderr, whatever it holds and however stderr is encoded."""
    sys.stderr.write(
        text.encode(sys.stderr.encoding or "utf-8", "backslashreplace").decode(sys.stderr.encoding or "utf-8")
    )
    sys.stderr.flush()


def redirected() -> str:
    """The file that stdout was redirected to, where there is one and the system can tell its name."""
    descriptor = sys.stdout.fileno()
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    return os.path.realpath(f"/proc/self/fd/{descriptor}") if is_file else ""


def print_out(line: str) -> None:
    """A line of the result, on stdout; names that are no UTF-8 keep their bytes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()
