"""Where a link leads: the part in round brackets behind its text."""

import re
from functools import cache

LONGEST_TARGET = 2000
NO_TARGET = ("", 0)

_DEEPEST = 8
_MOST_PARTS = 64
_PART = r"[^\s()\\]+|\\.|[()]"
_REST = r"""\s+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*\)|\s*\)"""


def target_at(text: str, start: int) -> tuple[str, int] | None:
    """The address in the brackets that begin at `start`, and where they end.

    NO_TARGET if they are none whatever follows, None as long as that depends on what follows.
    """
    end = min(len(text), start + LONGEST_TARGET)
    found = _angled(text, start, end) if text.startswith("<", start + 1) else _bare(text, start, end)
    return NO_TARGET if found is None and end - start == LONGEST_TARGET else found


def _angled(text: str, start: int, end: int) -> tuple[str, int] | None:
    close = text.find(">", start, end)
    return None if close < 0 else _closed(text, text[start + 2 : close], close + 1, end)


def _bare(text: str, start: int, end: int) -> tuple[str, int] | None:
    at, depth, parts = start + 1, 0, 0
    while part := _compiled(_PART).match(text, at, end):
        depth += (part[0] == "(") - (part[0] == ")")
        parts += 1
        if depth > _DEEPEST or parts > _MOST_PARTS:
            return NO_TARGET
        if depth < 0:
            break
        at = part.end()
    if depth > 0:
        # A blank ends the address although a bracket is open in it.
        return None if at == end or text[at] == "\\" else NO_TARGET
    return _closed(text, text[start + 1 : at], at, end)


def _closed(text: str, address: str, stop: int, end: int) -> tuple[str, int] | None:
    """The address, if nothing but a title stands between it and the closing bracket."""
    if close := _compiled(_REST).match(text, stop, end):
        return address, close.end()
    rest = text[stop:end].lstrip()
    return NO_TARGET if rest and rest[0] not in "\"'(\\" else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when the first link is met, since most texts have none."""
    return re.compile(pattern)
