"""Format values for people. Escaped names and text cannot move a cursor, end a line or forge a header."""

import time
from collections.abc import Sequence

MAX_QUOTED = 60

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}


def quote_path(path: str) -> str:
    """The path, quoted as git quotes it if it contains anything unprintable."""
    if path.isprintable() and not path.startswith('"'):
        return path
    return f'"{"".join(_escape_char(char) for char in path)}"'


def _escape_char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return "".join(f"\\{byte:03o}" for byte in _char_bytes(char))


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
        elif shown[at] == "\\" and _is_octal(shown[at + 1 : at + 4]):
            out.append(int(shown[at + 1 : at + 4], 8) & 255)
            at += 4
        else:
            out += _char_bytes(shown[at])
            at += 1
    return out.decode("utf-8", "surrogateescape")


def _is_octal(digits: str) -> bool:
    return len(digits) == 3 and not digits.strip("01234567")


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
