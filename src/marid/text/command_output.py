"""The output streams of a command as one text."""

MAX_ESCAPED_BYTES = 900_000
"""For each stream as a JSON string. Each is sent twice, as text and as a value; the total stays below 4 MB."""

_PAIRS = b'"\\\n\t\r'
_CONTROLS = bytes(code for code in (*range(32), 127) if code not in _PAIRS)


def combine_streams(out: str, err: str, status: int) -> str:
    """Both streams and the exit code, in the form that the tool documents."""
    return f"STDOUT:\n{_with_newline(out)}STDERR:\n{_with_newline(err)}EXIT CODE: {status}"


def _with_newline(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


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
