"""Replace and insert lines. Only `\\n` ends a line; lines keep their endings and count from 1, ends included."""

from marid.core.errors import BadInput


def split_lines(text: str) -> list[str]:
    """The lines with their endings; the last may have none."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def usual_line_ending(text: str) -> str:
    """The ending of most lines."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def with_line_endings(text: str, ending: str) -> str:
    """The text with this ending for all lines."""
    plain = text.replace("\r\n", "\n")
    return plain if ending == "\n" else plain.replace("\n", ending)


def check_line_range(start: int, end: int, names: tuple[str, str] = ("start_line", "end_line")) -> None:
    """Raises: BadInput for a range that is empty or starts before line 1."""
    if start < 1:
        raise BadInput(f"{names[0]} is {start}: lines are counted from 1")
    if end < start:
        raise BadInput(f"{names[1]} ({end}) is before {names[0]} ({start})")


def check_start_line(start: int, total: int, name: str = "start_line") -> None:
    """Raises: BadInput for a line after the last of `total` lines."""
    if start > total:
        has = "is empty" if not total else f"has {total} line{'s' if total > 1 else ''}"
        raise BadInput(f"{name} {start} is beyond the end: the file {has}")


def replace_lines(text: str, start: int, end: int, new: str) -> str:
    """Replace lines `start` to `end`, or to the last one; an empty `new` deletes them.

    New lines get the ending of the others; the last gets one if a line follows or the replaced one had one.
    Raises: BadInput for lines that do not exist.
    """
    check_line_range(start, end)
    lines = split_lines(text)
    check_start_line(start, len(lines))
    old, after = lines[start - 1 : end], lines[end:]
    ending = usual_line_ending(text)
    new = with_line_endings(new, ending)
    if new and not new.endswith("\n") and (after or old[-1].endswith("\n")):
        new += ending
    return "".join([*lines[: start - 1], new, *after])


def insert_lines(text: str, at: int, new: str) -> str:
    """Insert lines before line `at`, which may be one after the last. Raises: BadInput."""
    lines = split_lines(text)
    check_start_line(at - 1, len(lines), "line")
    ending = usual_line_ending(text)
    before, after = "".join(lines[: at - 1]), lines[at - 1 :]
    return "".join([end_last_line(before, ending), end_last_line(with_line_endings(new, ending), ending), *after])


def end_last_line(text: str, ending: str) -> str:
    """The text with an ending for its last line; an empty text stays empty."""
    return text if not text or text.endswith("\n") else text + ending
