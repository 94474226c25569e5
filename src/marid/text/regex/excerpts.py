"""Matching lines with the lines around them."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from marid.text.decode import decode_text
from marid.text.regex.line_hits import LineHit

MAX_LINE_LENGTH = 500


class ExcerptLine(NamedTuple):
    """One line to show, without its ending."""

    number: int
    text: str
    is_hit: bool


def excerpt_groups(data: bytes, hits: Sequence[LineHit], before: int, after: int) -> Iterator[list[ExcerptLine]]:
    """The hits with the lines around them; adjacent groups are merged and long lines cut."""
    if not hits:
        return
    lines = data.split(b"\n", hits[-1].line + after)
    if len(lines) > hits[-1].line + after or not lines[-1]:
        lines.pop()
    columns = {hit.line: hit.column for hit in hits}
    group: list[ExcerptLine] = []
    for hit in hits:
        first = max(1, hit.line - before)
        if group and first > group[-1].number + 1:
            yield group
            group = []
        if group:
            first = group[-1].number + 1
        for number in range(first, min(len(lines), hit.line + after) + 1):
            text = _decode_line(lines[number - 1]).removesuffix("\r")
            group.append(ExcerptLine(number, clip_line(text, columns.get(number, 0)), number in columns))
    yield group


def _decode_line(line: bytes) -> str:
    """Decode only this line: decoding whole files again would take longer than the search."""
    text = decode_text(line)
    return text.text if text else line.decode("latin-1")


def clip_line(text: str, column: int = 0) -> str:
    """The text, or the part of a very long line around `column`."""
    if len(text) <= MAX_LINE_LENGTH:
        return text
    start = max(0, min(column - MAX_LINE_LENGTH // 4, len(text) - MAX_LINE_LENGTH))
    end = start + MAX_LINE_LENGTH
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def render_groups(groups: Sequence[list[ExcerptLine]], line: Callable[[ExcerptLine], str], *, separate: bool) -> str:
    """The lines, each formatted by `line`; with `separate`, `--` between the groups."""
    return ("\n--\n" if separate else "\n").join("\n".join(map(line, group)) for group in groups)
