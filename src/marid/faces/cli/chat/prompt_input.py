"""What a person says: the words of the command line, what is piped in, or what is typed."""

import codecs
import contextlib
import errno
import select
from typing import BinaryIO, TextIO

from marid.core.errors import BadInput, Exhausted
from marid.faces.cli.view.console import print_note

END_LINE = "."
HINT = f"say something; a line that is just `{END_LINE}`, or Ctrl-D, ends it"
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

    `stdin` is None when it was closed (`<&-`); a pipe out of which nothing comes for `patience` seconds is told.

    Raises: NothingSaid when all of it is blank, Exhausted when more is piped in than a context may hold.
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
        raise EmptyPrompt("say something: the prompt is empty")
    return prompt


def _warn_if_slow(stdin: TextIO, slow_after: float) -> None:
    """Whoever starts us may have left a pipe open that nobody writes to: we would wait for ever, and silently."""
    with contextlib.suppress(OSError, ValueError):  # it has no descriptor, or one that nobody can wait for
        if not select.select([stdin.fileno()], [], [], slow_after)[0]:
            print_note("waiting for what is piped in (`</dev/null` says that nothing is)")


def _read_pipe(stdin: BinaryIO, max_bytes: int) -> str:
    """All of it, with its newlines: a file that is quoted ends as it ends."""
    try:
        data = stdin.read(max_bytes + 1)
    except OSError as error:
        if error.errno in _UNREADABLE_ERRNOS:
            return ""
        raise BadInput(f"stdin cannot be read: {error.strerror or error}") from error
    if len(data) > max_bytes:
        raise Exhausted(f"more than {max_bytes / _MEGABYTE:g} MB are piped in: name the files in the prompt instead")
    return decode_input(data)


def decode_input(data: bytes) -> str:
    """Text of what is piped in: a byte-order mark decides, else it is UTF-8, and what is not is replaced and told."""
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return _decode_lossy(data, encoding)


def replace_invalid_bytes(words: str) -> str:
    """Words of the command line, in which bytes that are no UTF-8 are replaced and told as in what is piped in."""
    data = words.encode("utf-8", "surrogateescape")
    return words if data.decode("utf-8", "ignore") == words else _decode_lossy(data, "utf-8")


def _decode_lossy(data: bytes, encoding: str) -> str:
    print_note(f"not all of the input is {encoding.removesuffix('-sig').upper()}: the rest is replaced by \ufffd")
    return data.decode(encoding, "replace")


def _read_typed_lines(stdin: BinaryIO) -> str:
    """The lines up to the one that ends it."""
    print_note(HINT)
    lines: list[str] = []
    while line := stdin.readline():
        text = decode_input(line).rstrip("\r\n")
        if text == END_LINE:
            break
        lines.append(text)
    return "\n".join(lines)
