"""Names and text as they may be shown: nothing in them can move a cursor, end a line or forge a header."""

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
    """`path` as it is, or quoted as git quotes it when it holds anything that cannot be printed."""
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
    """One character as in a file name; half a pair, which no name holds, as if it were a letter."""
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")


def unquote_path(shown: str) -> str:
    """The path that `quote_path` showed as this."""
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
    """One line of text for a terminal: control and direction characters become visible escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
