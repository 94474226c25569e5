"""Which lines of many texts match: the work of a worker where the pattern is somebody else's."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from marid.core.errors import Exhausted
from marid.text.encoded import WIDE_MARKS, as_text
from marid.text.nets import net_for
from marid.text.patterns import Pattern, compiled

_WORTH_A_NET = 256 << 10
# Shorter needles are in most lines.
_RARE = 2


class Hit(NamedTuple):
    """A line that matches, from 1, and about where in it the match begins, from 0."""

    line: int
    column: int


def find_hits(pattern: Pattern, texts: Sequence[bytes], most: int) -> list[list[Hit]]:
    """The hits in each text, `most` in all.

    Raises: BadInput for a wrong pattern, Exhausted for one that needs too much memory.
    """
    regex = compiled(pattern.source)
    search = _way(pattern)
    net = net_for(pattern.source) if not pattern.ours and sum(map(len, texts)) >= _WORTH_A_NET else None
    found: list[list[Hit]] = []
    try:
        for data in texts:
            if net is not None and not net.catches(data) and not data.startswith(WIDE_MARKS):
                found.append([])
                continue
            found.append(list(islice(search(regex, _text(data)), most)))
            most -= len(found[-1])
    except MemoryError as error:
        raise Exhausted("the pattern needs too much memory") from error
    return found


def _way(pattern: Pattern) -> "Callable[[re.Pattern[str], str], Iterator[Hit]]":
    """How to search: around needles if they are rare enough, else the whole text at once if a match stays in a line."""
    if pattern.needles and not pattern.caseless and min(map(len, pattern.needles)) >= _RARE:
        return partial(_hits_near, pattern.needles)
    return _hits_in_text if pattern.inline else _hits_in_lines


def _text(data: bytes) -> str:
    """The text of a file with plain line ends, so that `$` finds them, and no mark; nothing for a binary file."""
    found = as_text(data)
    text = found.text if found else ""
    return text.replace("\r\n", "\n") if "\r" in text else text


def _hits_near(needles: tuple[str, ...], pattern: "re.Pattern[str]", text: str) -> Iterator[Hit]:
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
            yield Hit(line, match.start())
        for needle, at in nearest.items():
            if 0 <= at < end:
                nearest[needle] = text.find(needle, end)


def _hits_in_text(pattern: "re.Pattern[str]", text: str) -> Iterator[Hit]:
    at, line, start = 0, 1, 0
    while at < len(text) and (match := pattern.search(text, at)) is not None:
        place = match.start()
        if place == len(text) and text[-1] == "\n":
            return  # there is no line behind the last line end
        line += text.count("\n", start, place)
        start = text.rfind("\n", 0, place) + 1
        yield Hit(line, place - start)
        end = text.find("\n", place)
        if end < 0:
            return
        at = start = end + 1
        line += 1


def _hits_in_lines(pattern: "re.Pattern[str]", text: str) -> Iterator[Hit]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if (match := pattern.search(line)) is not None:
            yield Hit(number, match.start())
