"""Which lines of many texts match: the work of a worker where the pattern is somebody else's."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from marid.core.errors import Exhausted
from marid.text.regex.hyperscan_prefilter import make_regex_prefilter
from marid.text.regex.line_pattern import LinePattern, compile_pattern
from marid.text.text_codec import WIDE_BOMS, decode_text

_MIN_PREFILTER_BYTES = 256 << 10
# Shorter needles are in most lines.
_MIN_LITERAL_LENGTH = 2


class LineHit(NamedTuple):
    """A line that matches, from 1, and about where in it the match begins, from 0."""

    line: int
    column: int


def find_hits(pattern: LinePattern, texts: Sequence[bytes], max_hits: int) -> list[list[LineHit]]:
    """The hits in each text, `most` in all.

    Raises: BadInput for a wrong pattern, Exhausted for one that needs too much memory.
    """
    regex = compile_pattern(pattern.source)
    search = _choose_search(pattern)
    net = (
        make_regex_prefilter(pattern.source)
        if not pattern.is_literal and sum(map(len, texts)) >= _MIN_PREFILTER_BYTES
        else None
    )
    found: list[list[LineHit]] = []
    try:
        for data in texts:
            if net is not None and not net.may_match(data) and not data.startswith(WIDE_BOMS):
                found.append([])
                continue
            found.append(list(islice(search(regex, _decode_normalized(data)), max_hits)))
            max_hits -= len(found[-1])
    except MemoryError as error:
        raise Exhausted("the pattern needs too much memory") from error
    return found


def _choose_search(pattern: LinePattern) -> "Callable[[re.Pattern[str], str], Iterator[LineHit]]":
    """How to search: around needles if they are rare enough, else the whole text at once if a match stays in a line."""
    if (
        pattern.required_literals
        and not pattern.caseless
        and min(map(len, pattern.required_literals)) >= _MIN_LITERAL_LENGTH
    ):
        return partial(_hits_near, pattern.required_literals)
    return _hits_in_text if pattern.within_line else _hits_in_lines


def _decode_normalized(data: bytes) -> str:
    """The text of a file with plain line ends, so that `$` finds them, and no mark; nothing for a binary file."""
    found = decode_text(data)
    text = found.text if found else ""
    return text.replace("\r\n", "\n") if "\r" in text else text


def _hits_near(needles: tuple[str, ...], pattern: "re.Pattern[str]", text: str) -> Iterator[LineHit]:
    """The hits in lines that hold a needle, as every line with a match does."""
    nearest = {needle: text.find(needle) for needle in needles}
    line, counted = 1, 0
    while places := [place for place in nearest.values() if place >= 0]:
        place = min(places)
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line += text.count("\n", counted, start)
        counted = start
        if (match := pattern.search(text[start:end])) is not None:
            yield LineHit(line, match.start())
        for needle, at in nearest.items():
            if 0 <= at < end:
                nearest[needle] = text.find(needle, end)


def _hits_in_text(pattern: "re.Pattern[str]", text: str) -> Iterator[LineHit]:
    at, line, start = 0, 1, 0
    while at < len(text) and (match := pattern.search(text, at)) is not None:
        place = match.start()
        if place == len(text) and text[-1] == "\n":
            return  # there is no line behind the last line end
        line += text.count("\n", start, place)
        start = text.rfind("\n", 0, place) + 1
        yield LineHit(line, place - start)
        end = text.find("\n", place)
        if end < 0:
            return
        at = start = end + 1
        line += 1


def _hits_in_lines(pattern: "re.Pattern[str]", text: str) -> Iterator[LineHit]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if (match := pattern.search(line)) is not None:
            yield LineHit(number, match.start())
