"""What a person says: the words of the command line, what is piped in, or what is typed."""

import codecs
import contextlib
import errno
import select
from typing import BinaryIO, TextIO

from marid.core.errors import BadInput, Exhausted
from marid.faces.cli.exits import say

END = "."
HINT = f"say something; a line that is just `{END}`, or Ctrl-D, ends it"
_MEGABYTE = 1_000_000
_PATIENCE = 3.0
# A terminal that a program in the background may not read from; a folder; what `nohup` puts there, which can only be
# written; a stand-in that cannot be read at all.
_NOTHING = (errno.EIO, errno.EISDIR, errno.EBADF, None)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class NothingSaid(BadInput):
    """There is no prompt: no words, nothing piped in, nothing typed."""


def prompt_of(words: str, stdin: TextIO | None, most_megabytes: float, patience: float = _PATIENCE) -> str:
    """Argument and piped text, with a blank line between; without both, and on a terminal, what is typed.

    `stdin` is None when it was closed (`<&-`); a pipe out of which nothing comes for `patience` seconds is told.

    Raises: NothingSaid when all of it is blank, Exhausted when more is piped in than a context may hold.
    """
    parts = [sound(words)]
    if stdin is not None and not stdin.closed:
        if not stdin.isatty():
            _tell_if_slow(stdin, patience)
            parts.append(_piped(stdin.buffer, int(most_megabytes * _MEGABYTE)))
        elif not words.strip():
            parts.append(_typed(stdin.buffer))
    prompt = "\n\n".join(part for part in parts if part.strip())
    if not prompt:
        raise NothingSaid("say something: the prompt is empty")
    return prompt


def _tell_if_slow(stdin: TextIO, patience: float) -> None:
    """Whoever starts us may have left a pipe open that nobody writes to: we would wait for ever, and silently."""
    with contextlib.suppress(OSError, ValueError):  # it has no descriptor, or one that nobody can wait for
        if not select.select([stdin.fileno()], [], [], patience)[0]:
            say("waiting for what is piped in (`</dev/null` says that nothing is)")


def _piped(stdin: BinaryIO, most: int) -> str:
    """All of it, with its newlines: a file that is quoted ends as it ends."""
    try:
        data = stdin.read(most + 1)
    except OSError as error:
        if error.errno in _NOTHING:
            return ""
        raise BadInput(f"stdin cannot be read: {error.strerror or error}") from error
    if len(data) > most:
        raise Exhausted(f"more than {most / _MEGABYTE:g} MB are piped in: name the files in the prompt instead")
    return decoded(data)


def decoded(data: bytes) -> str:
    """Text of what is piped in: a byte-order mark decides, else it is UTF-8, and what is not is replaced and told."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return _replaced(data, encoding)


def sound(words: str) -> str:
    """Words of the command line, in which bytes that are no UTF-8 are replaced and told as in what is piped in."""
    data = words.encode("utf-8", "surrogateescape")
    return words if data.decode("utf-8", "ignore") == words else _replaced(data, "utf-8")


def _replaced(data: bytes, encoding: str) -> str:
    say(f"not all of the input is {encoding.removesuffix('-sig').upper()}: the rest is replaced by \ufffd")
    return data.decode(encoding, "replace")


def _typed(stdin: BinaryIO) -> str:
    """The lines up to the one that ends it."""
    say(HINT)
    lines: list[str] = []
    while line := stdin.readline():
        text = decoded(line).rstrip("\r\n")
        if text == END:
            break
        lines.append(text)
    return "\n".join(lines)
