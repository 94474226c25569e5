"""Format values for people. Escaped names and text cannot move a cursor, end a line, forge a header or deceive."""

import re
import time
from collections.abc import Sequence
from functools import cache

MAX_QUOTED = 60
MAX_ESCAPED_BYTES = 900_000
"""For each stream as a JSON string. Each is sent twice, as text and as a value; the total stays below 4 MB."""

_PAIRS = b'"\\\n\t\r'
_CONTROLS = bytes(code for code in (*range(32), 127) if code not in _PAIRS)

_ESCAPES = {char: f"\\{letter}" for char, letter in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)}

# Printable according to Unicode, but invisible.
_BLANK_LOOKING = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_INVISIBLE = "\u00ad\u180e\u200b-\u200d\u2028\u2029\u2060-\u2065\ufeff\U000e0000-\U000e007f" + _BLANK_LOOKING
_DIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LATIN = "A-Za-z\u00c0-\u024f"
# Alphabets with letters that look Latin. Of Greek only those letters: the others are used in formulas.
_GREEK = "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
_LOOKALIKES = _GREEK + "\u0400-\u058f\u13a0-\u13ff\uab70-\uabbf"


def quote_path(path: str) -> str:
    """The path, quoted as git quotes it if it contains anything unprintable."""
    if path.isprintable() and not path.startswith('"'):
        return path
    return f'"{"".join(_ESCAPES.get(char) or _escape_char(char) for char in path)}"'


def _escape_char(char: str) -> str:
    return char if char.isprintable() else "".join(f"\\{byte:03o}" for byte in _char_bytes(char))


def _char_bytes(char: str) -> bytes:
    """The bytes of a character of a file name. A lone surrogate, which no name contains, is encoded like any letter."""
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")


def unquote_path(shown: str) -> str:
    """Undo `quote_path`."""
    if not (len(shown) >= 2 and shown.startswith('"') and shown.endswith('"')):
        return shown
    back = {escape: char for char, escape in _ESCAPES.items()}
    out = bytearray()
    at, end = 1, len(shown) - 1
    while at < end:
        pair = shown[at : at + 2]
        if pair in back:
            out += back[pair].encode()
            at += 2
        elif octal := _compile(r"\\([0-7]{3})").match(shown, at):
            out.append(int(octal[1], 8) & 255)
            at += 4
        else:
            out += _char_bytes(shown[at])
            at += 1
    return out.decode("utf-8", "surrogateescape")


def escape_text(text: str) -> str:
    """The text for one line of a terminal: control and direction characters become visible escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quote_for_message(text: str) -> str:
    """The text quoted for an error message: escaped, on one line, at most `MAX_QUOTED` characters of it."""
    return ascii(text) if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]!a}… ({len(text)} characters)"


def one_line(text: str, length: int) -> str:
    """The text on one line of at most `length` characters, without control and direction characters."""
    return clip(" ".join("".join(char if char.isprintable() else " " for char in text).split()), length)


def clip(text: str, length: int) -> str:
    """At most `length` characters; the last is `…` if the text is cut."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def join_limited(names: Sequence[str], limit: int) -> str:
    """The first names with commas, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit:,} more" if len(names) > limit else "")


def human_size(size: float) -> str:
    """A number of bytes in a readable unit."""
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def format_timestamp(time_ms: float) -> str:
    """Milliseconds since 1970 as local time; empty for 0."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(time_ms / 1000)) if time_ms else ""


@cache
def _compile(characters: str) -> re.Pattern[str]:
    return re.compile(characters)


def escape_invisible(line: str) -> str:
    """The line with invisible and unprintable characters as escapes; tabs stay."""
    if line.isascii() and line.isprintable():
        return line
    blanks = _compile(f"[{_BLANK_LOOKING}]")
    return "".join(
        char if char == "\t" or (char.isprintable() and not blanks.match(char)) else ascii(char)[1:-1] for char in line
    )


def find_deceptive(text: str) -> tuple[str, ...]:
    """The kinds of deceptive characters in a text; line endings and tabs are not deceptive."""
    if _compile(r"[\t\n\x20-\x7e]*").fullmatch(text):
        return ()
    kinds = {
        "control characters": r"[\x00-\x08\x0b-\x1f\x7f-\x9f]",
        "characters that turn the direction of text": f"[{_DIRECTIONAL}]",
        "invisible characters": f"[{_INVISIBLE}]",
        "unusual spaces": "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]",
        "characters that belong to no text": "[\ud800-\udfff\ue000-\uf8ff]",
        "letters of several alphabets in one word": f"[{_LATIN}][{_LOOKALIKES}]|[{_LOOKALIKES}][{_LATIN}]",
    }
    return tuple(words for words, pattern in kinds.items() if _compile(pattern).search(text))


def combine_streams(out: str, err: str, status: int) -> str:
    """Both streams and the exit code, in the form that the tool documents."""
    out, err = (text if text.endswith("\n") else f"{text}\n" for text in (out, err))
    return f"STDOUT:\n{out}STDERR:\n{err}EXIT CODE: {status}"


def truncate_middle(text: str, max_bytes: int = MAX_ESCAPED_BYTES) -> str:
    """The text, or its beginning and end, of at most `max_bytes` bytes as a JSON string, with a note between them."""
    keep = len(text)
    if 12 * keep <= max_bytes:
        return text
    head, tail, size = text, "", json_escaped_size(text)
    while size > max_bytes:
        keep = keep * max_bytes // size
        head, tail = text[: keep // 2], text[len(text) - keep // 2 :]
        size = json_escaped_size(head) + json_escaped_size(tail)
    return f"{head}\n[... {len(text) - keep:,} characters left out ...]\n{tail}" if tail else head


def json_escaped_size(text: str) -> int:
    """The size in bytes of a JSON string that escapes everything but ASCII."""
    data = text.encode("utf-16-le", "surrogatepass")
    units = len(data) // 2
    plain = text.encode("ascii", "ignore")
    rest = plain.translate(None, _PAIRS)
    controls = len(rest) - len(rest.translate(None, _CONTROLS))
    return len(plain) + (len(plain) - len(rest)) + 5 * controls + 6 * (units - len(plain))
