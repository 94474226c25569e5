"""Find the lines that match a pattern. For a pattern from outside, this runs in a worker."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from marid.core.errors import Exhausted
from marid.text.decode import decode_text
from marid.text.regex.line_pattern import LinePattern, compile_pattern


class LineHit(NamedTuple):
    """A matching line, from 1, and the column where the first match starts, from 0."""

    line: int
    column: int


def find_hits(pattern: LinePattern, texts: Sequence[bytes], max_hits: int) -> list[list[LineHit]]:
    """The hits in each text, at most `max_hits` in all.

    Raises: BadInput for an invalid pattern, Exhausted for one that needs too much memory.
    """
    search = compile_pattern(pattern.source).search
    may_match = _literal_check(pattern)
    found: list[list[LineHit]] = []
    try:
        for data in texts:
            found.append(list(islice(_iter_hits(_decode_lines(data), may_match, search), max_hits)))
            max_hits -= len(found[-1])
    except MemoryError as error:
        raise Exhausted("the pattern needs too much memory") from error
    return found


def _literal_check(pattern: LinePattern) -> Callable[[str], object]:
    """A check whether a line contains a required literal, which is much cheaper than the pattern."""
    match () if pattern.caseless else pattern.required_literals:
        case ():
            return lambda line: True
        case (literal,):
            return lambda line: literal in line
        case literals:
            return re.compile("|".join(map(re.escape, literals))).search


def _decode_lines(data: bytes) -> list[str]:
    """The lines of a file without their endings, so that `$` matches; none for a binary file."""
    found = decode_text(data)
    lines = found.text.replace("\r\n", "\n").split("\n") if found else [""]
    if not lines[-1]:
        lines.pop()
    return lines


def _iter_hits(
    lines: list[str], may_match: Callable[[str], object], search: "Callable[[str], re.Match[str] | None]"
) -> Iterator[LineHit]:
    for number, line in enumerate(lines, 1):
        if may_match(line) and (match := search(line)) is not None:
            yield LineHit(number, match.start())
