"""Lines of UTF-8 text. A line ends at `\\n` only."""


def number_lines(data: bytes, first: int = 1) -> bytes:
    """Each line with its number before it; the bytes of the lines are kept."""
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
    """How many lines there are, an unfinished last one counted."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def slice_lines(data: bytes, start: int, end: int) -> bytes:
    """Lines `start` to `end`, from 1, both included."""
    return b"".join(line + b"\n" for line in data.split(b"\n")[start - 1 : end])


def human_size(size: float) -> str:
    """`size` bytes in the unit a person would use."""
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
