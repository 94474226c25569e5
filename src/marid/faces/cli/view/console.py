"""Errors on the command line: what is said, and the exit code."""

import contextlib
import os
import stat
import sys

from marid.core.errors import MaridError, Refused
from marid.core.exit_codes import EXIT_STATUS, INTERRUPTED_STATUS, exit_code

__all__ = [
    "EXIT_STATUS",
    "INTERRUPTED_STATUS",
    "end_terminal_line",
    "error_text",
    "escape_controls",
    "exit_code",
    "print_line",
    "print_note",
    "redirect_target",
    "write_stderr",
]


def error_text(error: MaridError) -> str:
    """What a person is told of an error: with the command that helps, where there is one."""
    if not isinstance(error, Refused):
        return str(error)
    from marid.core.conversation.records import ConversationArchived  # imported when used: it is seldom this

    return (
        f"{error}: `marid conversations restore {error.name}`"
        if isinstance(error, ConversationArchived)
        else str(error)
    )


def print_note(line: str) -> None:
    """A line for the person, on stderr, so that stdout holds results only."""
    write_stderr(f"marid: {escape_controls(line)}\n")


def escape_controls(text: str) -> str:
    """Text as a terminal may have it: what would be obeyed is shown."""
    if text.isprintable():
        return text
    # Imported when used: nearly all that is said can be printed.
    from marid.faces.cli.view.escape_guard import EscapeGuard

    safe = EscapeGuard()
    return safe.feed(text) + safe.end()


def write_stderr(text: str) -> None:
    """Text on stderr, whatever it holds and however stderr is encoded. Where it cannot be told, nobody can be told."""
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError):
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()


def end_terminal_line() -> None:
    """After Ctrl-C, whose echo stands in a line of the terminal: the shell's prompt is to begin a new one."""
    if sys.stderr.isatty():
        write_stderr("\n")


def redirect_target() -> str:
    """The file that stdout was redirected to, where there is one and the system can tell its name."""
    descriptor = sys.stdout.fileno()
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    return os.path.realpath(f"/proc/self/fd/{descriptor}") if is_file else ""


def print_line(line: str) -> None:
    """A line of the result, on stdout; names that are no UTF-8 keep their bytes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()
