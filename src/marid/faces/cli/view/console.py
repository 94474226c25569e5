"""Lines on stdout and stderr of the command line, with control characters escaped for a terminal."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from marid.core.errors import MaridError, Refused
from marid.text.display import escape_text

_JOINERS = "\u200c\u200d"


def error_text(error: MaridError) -> str:
    """The message of an error, with the command that helps if there is one."""
    if isinstance(error, Refused):
        from marid.core.conversation.records import ConversationArchived  # imported when used: few errors are this one

        if isinstance(error, ConversationArchived):
            return f"{error}: `marid conversations restore {error.name}`"
    return str(error)


def print_note(line: str) -> None:
    """Print a line to stderr, so that stdout has results only."""
    write_stderr(f"marid: {escape_controls(line)}\n")


def write_stderr(text: str, stream: TextIO | None = None) -> None:
    """Write any text to stderr, whatever its encoding; an error of stderr itself is ignored."""
    file = sys.stderr if stream is None else stream
    encoding = file.encoding or "utf-8"
    with contextlib.suppress(OSError):
        file.write(text.encode(encoding, "backslashreplace").decode(encoding))
        file.flush()


def end_terminal_line() -> None:
    """Begin a new line after the `^C` that the terminal echoed."""
    if sys.stderr.isatty():
        write_stderr("\n")


def print_line(line: str) -> None:
    """Print a line to stdout; file names that are not UTF-8 keep their bytes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


def print_untrusted(text: str, *, bold: Sequence[str] = ()) -> None:
    """Print text from outside: unchanged to a file or pipe; on a terminal escaped, with some words in bold."""
    if sys.stdout.isatty():
        text = highlight(escape_controls(text), bold)
    # A lone surrogate, which JSON can hold and UTF-8 cannot, is escaped.
    print_line(text.encode("utf-8", "backslashreplace").decode())


def highlight(text: str, words: Iterable[str]) -> str:
    """`text` with `words` in bold."""
    import re

    wanted = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(wanted, lambda found: f"\x1b[1m{found[0]}\x1b[0m", text, flags=re.IGNORECASE) if wanted else text


def redirect_target() -> str:
    """The path of the file that stdout is redirected to; "" if it is not a file."""
    descriptor = sys.stdout.fileno()
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    return os.path.realpath(f"/proc/self/fd/{descriptor}") if is_file else ""


def count_text(number: int, name: str) -> str:
    """A number with its noun, in the singular or plural."""
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def replace_invalid_bytes(words: str) -> str:
    """Words of the command line; bytes that are not UTF-8 are replaced, with a note."""
    data = words.encode("utf-8", "surrogateescape")
    return words if data.decode("utf-8", "ignore") == words else decode_lossy(data, "utf-8")


def decode_lossy(data: bytes, encoding: str) -> str:
    """Decode, replace what cannot be decoded, and print a note about it."""
    print_note(f"not all of the input is {encoding.removesuffix('-sig').upper()}: the rest is replaced by \ufffd")
    return data.decode(encoding, "replace")


def escape_controls(text: str) -> str:
    """`text` with control characters escaped, safe for a terminal."""
    if text.isprintable():
        return text
    guard = EscapeGuard()
    return guard.feed(text) + guard.end()


class EscapeGuard:
    """Escapes text in fragments. Line endings become newlines; tabs and all kinds of spaces stay."""

    def __init__(self) -> None:
        self._before = " "
        self._return = False

    def feed(self, text: str) -> str:
        """Return the escaped text; a carriage return at its end waits for the next character."""
        if self._return:
            text = "\r" + text
        self._return = text.endswith("\r")
        text = text.removesuffix("\r").replace("\r\n", "\n")
        if not text:
            return ""
        shown: list[str] = []
        for line in text.split("\n"):
            shown.append(line if line.isprintable() else self._escape_line(line))
            self._before = "\n"
        self._before = text[-1]
        return "\n".join(shown)

    def end(self) -> str:
        """Return what waits."""
        waiting = "\\r" if self._return else ""
        self._before, self._return = " ", False
        return waiting

    def _escape_line(self, line: str) -> str:
        out: list[str] = []
        before = self._before
        for char in line:
            # Emoji and several scripts need joiners; between ASCII letters they only hide text.
            stays = char == "\t" or char.isprintable() or (char in _JOINERS and not before.isascii()) or _is_space(char)
            out.append(char if stays else escape_text(char))
            before = char
        return "".join(out)


def _is_space(char: str) -> bool:
    import unicodedata

    return unicodedata.category(char) == "Zs"
