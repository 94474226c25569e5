"""Lines on stdout and stderr of the command line."""

import contextlib
import os
import stat
import sys

from marid.core.errors import MaridError, Refused


def error_text(error: MaridError) -> str:
    """The message of an error, with the command that helps if there is one."""
    if not isinstance(error, Refused):
        return str(error)
    from marid.core.conversation.records import ConversationArchived  # imported when used: few errors are this one

    return (
        f"{error}: `marid conversations restore {error.name}`"
        if isinstance(error, ConversationArchived)
        else str(error)
    )


def print_note(line: str) -> None:
    """Print a line to stderr, so that stdout has results only."""
    write_stderr(f"marid: {escape_controls(line)}\n")


def escape_controls(text: str) -> str:
    """`text` with control characters escaped, safe for a terminal."""
    if text.isprintable():
        return text
    # Imported when used: nearly all text is printable.
    from marid.faces.cli.view.escape_guard import EscapeGuard

    safe = EscapeGuard()
    return safe.feed(text) + safe.end()


def write_stderr(text: str) -> None:
    """Write any text to stderr, whatever its encoding; an error of stderr itself is ignored."""
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError):
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()


def end_terminal_line() -> None:
    """Begin a new line after the `^C` that the terminal echoed."""
    if sys.stderr.isatty():
        write_stderr("\n")


def redirect_target() -> str:
    """The path of the file that stdout is redirected to; "" if it is not a file."""
    descriptor = sys.stdout.fileno()
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    return os.path.realpath(f"/proc/self/fd/{descriptor}") if is_file else ""


def print_line(line: str) -> None:
    """Print a line to stdout; file names that are not UTF-8 keep their bytes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


def count_text(number: int, name: str) -> str:
    """A number with its noun, in the singular or plural."""
    return f"{number:,} {name}{'' if number == 1 else 's'}"
