"""Lines of UTF-8 text. A line ends at `\\n` only."""


def number_lines(data: bytes, first: int = 1) -> bytes:
    """The lines with their numbers in front; their bytes are kept."""
    if not data:
        return data
    lines = data.split(b"\n")
    tail = lines.pop() if not lines[-1] else None
    width = len(str(first + len(lines) - 1))
    out = [b"%*d: %b" % (width, number, line) for number, line in enumerate(lines, first)]
    if tail is not None:
        out.append(tail)
    return b"\n".join(out)


def line_count(data: bytes) -> int:
    """The number of lines; a last line without an ending counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
