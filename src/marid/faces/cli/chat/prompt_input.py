"""The prompt: the words of the command line, what is piped in, or what is typed."""

import codecs
import contextlib
import errno
import select
from typing import BinaryIO, TextIO

from marid.core.errors import BadInput, Exhausted
from marid.faces.cli.view.console import decode_lossy, print_note, replace_invalid_bytes

END_LINE = "."
HINT = f"type the prompt; a line with only `{END_LINE}`, or Ctrl-D, ends it"
_MEGABYTE = 1_000_000
_SLOW_AFTER = 3.0
# A terminal that a program in the background may not read from; a folder; what `nohup` puts there, which can only be
# written; a stand-in that cannot be read at all.
_UNREADABLE_ERRNOS = (errno.EIO, errno.EISDIR, errno.EBADF, None)
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class EmptyPrompt(BadInput):
    """There is no prompt: no words, nothing piped in, nothing typed."""


def read_prompt(words: str, stdin: TextIO | None, max_megabytes: float, slow_after: float = _SLOW_AFTER) -> str:
    """Argument and piped text, with a blank line between; without both, and on a terminal, what is typed.

    `stdin` is None if it was closed (`<&-`). A note is printed if a pipe stays silent for `slow_after` seconds.

    Raises: EmptyPrompt if all of it is blank; Exhausted if more is piped in than a context may hold.
    """
    parts = [replace_invalid_bytes(words)]
    if stdin is not None and not stdin.closed:
        if not stdin.isatty():
            _warn_if_slow(stdin, slow_after)
            parts.append(_read_pipe(stdin.buffer, int(max_megabytes * _MEGABYTE)))
        elif not words.strip():
            parts.append(_read_typed_lines(stdin.buffer))
    prompt = "\n\n".join(part for part in parts if part.strip())
    if not prompt:
        raise EmptyPrompt("the prompt is empty")
    return prompt


def _warn_if_slow(stdin: TextIO, slow_after: float) -> None:
    """The parent process may have left a pipe open without writing to it: do not wait for ever in silence."""
    with contextlib.suppress(OSError, ValueError):  # it has no descriptor, or one that select cannot take
        if not select.select([stdin.fileno()], [], [], slow_after)[0]:
            print_note("waiting for stdin (use `</dev/null` if nothing is piped in)")


def _read_pipe(stdin: BinaryIO, max_bytes: int) -> str:
    """All of it, with its newlines."""
    try:
        data = stdin.read(max_bytes + 1)
    except OSError as error:
        if error.errno in _UNREADABLE_ERRNOS:
            return ""
        raise BadInput(f"cannot read stdin: {error.strerror or error}") from error
    if len(data) > max_bytes:
        raise Exhausted(f"stdin is larger than {max_bytes / _MEGABYTE:g} MB: name the files in the prompt instead")
    return decode_input(data)


def decode_input(data: bytes) -> str:
    """Text by its byte-order mark, else UTF-8; what cannot be decoded is replaced, with a note."""
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return decode_lossy(data, encoding)


def _read_typed_lines(stdin: BinaryIO) -> str:
    """The lines up to the last one."""
    print_note(HINT)
    lines: list[str] = []
    while line := stdin.readline():
        text = decode_input(line).rstrip("\r\n")
        if text == END_LINE:
            break
        lines.append(text)
    return "\n".join(lines)
