"""Found lines with the lines around them."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from marid.text.encoded import as_text
from marid.text.matching import Hit

LONGEST_LINE = 500


class Shown(NamedTuple):
    """One line to show, without its ending."""

    number: int
    text: str
    hit: bool


def groups(data: bytes, hits: Sequence[Hit], before: int, after: int) -> Iterator[list[Shown]]:
    """The hits in a text, with lines around them; groups that touch are one. Overlong lines are cut."""
    if not hits:
        return
    lines = data.split(b"\n", hits[-1].line + after)
    if len(lines) > hits[-1].line + after or not lines[-1]:
        lines.pop()
    columns = {hit.line: hit.column for hit in hits}
    group: list[Shown] = []
    for hit in hits:
        first = max(1, hit.line - before)
        if group and first > group[-1].number + 1:
            yield group
            group = []
        if group:
            first = group[-1].number + 1
        for number in range(first, min(len(lines), hit.line + after) + 1):
            text = _decoded(lines[number - 1]).removesuffix("\r")
            group.append(Shown(number, clipped(text, columns.get(number, 0)), number in columns))
    yield group


def _decoded(line: bytes) -> str:
    """A line by itself: most are plain, and to look at whole files once more would take longer than finding it."""
    text = as_text(line)
    return text.text if text else line.decode("latin-1")


def clipped(text: str, column: int = 0) -> str:
    """`text`, or the part of a very long line that is around `column`."""
    if len(text) <= LONGEST_LINE:
        return text
    start = max(0, min(column - LONGEST_LINE // 4, len(text) - LONGEST_LINE))
    end = start + LONGEST_LINE
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def rendered(parts: Sequence[list[Shown]], line: Callable[[Shown], str], *, apart: bool) -> str:
    """Each line as `line` shows it; groups that stand `apart` have `--` between them."""
    return ("\n--\n" if apart else "\n").join("\n".join(map(line, group)) for group in parts)
