"""The two streams of a command as one text."""

MOST_ESCAPED = 900_000
"""Each stream as a JSON string: it is sent twice, as text and as a value, and all stays below 4 MB."""

_PAIRS = b'"\\\n\t\r'
_CONTROLS = bytes(code for code in (*range(32), 127) if code not in _PAIRS)


def combined(out: str, err: str, status: int) -> str:
    """Both streams and the exit code, in the form that callers know."""
    return f"STDOUT:\n{_ended(out)}STDERR:\n{_ended(err)}EXIT CODE: {status}"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def fitted(text: str, most: int = MOST_ESCAPED) -> str:
    """`text`, or its beginning and its end with a note between that comes on top of `most`: bytes as a JSON string."""
    keep = len(text)
    if 12 * keep <= most:
        return text
    head, tail, size = text, "", escaped_size(text)
    while size > most:
        keep = keep * most // size
        head, tail = text[: keep // 2], text[len(text) - keep // 2 :]
        size = escaped_size(head) + escaped_size(tail)
    return f"{head}\n[... {len(text) - keep:,} characters left out ...]\n{tail}" if tail else head


def escaped_size(text: str) -> int:
    """Bytes as a JSON string, in which all that is not ASCII is escaped: its longest form."""
    data = text.encode("utf-16-le", "surrogatepass")
    units = len(data) // 2
    plain = text.encode("ascii", "ignore")
    rest = plain.translate(None, _PAIRS)
    controls = len(rest) - len(rest.translate(None, _CONTROLS))
    return len(plain) + (len(plain) - len(rest)) + 5 * controls + 6 * (units - len(plain))
