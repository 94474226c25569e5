"""Names from callers, for every language: `name@12`, suggestions, ambiguous names."""

import re
from collections.abc import Iterable, Sequence

from marid.core.errors import BadInput
from marid.core.suggestions import close_matches, did_you_mean

MAX_NAME_LENGTH = 400
_AT_LINE = re.compile(r"(.+)@(\d{1,9})", re.DOTALL)
_MAX_KNOWN = 5000
_MAX_LISTED = 8


def split_line_suffix(name: str) -> tuple[str, int]:
    """The name and the line of `name@12`; 0 without a line."""
    found = _AT_LINE.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


def suggestion(wanted: str, known: Iterable[str], separator: str = ".") -> str:
    """The end of a message that suggests known names: first those with the same last part, then similar ones."""
    wanted = wanted[:200]
    names = list(dict.fromkeys(known))[:_MAX_KNOWN]
    by_last: dict[str, list[str]] = {}
    for name in names:
        by_last.setdefault(name.rpartition(separator)[2].lower(), []).append(name)
    last = wanted.rpartition(separator)[2].lower()
    near = [*by_last.get(last, [])[:5], *close_matches(wanted, names, 3)]
    near += [by_last[each][0] for each in close_matches(last, by_last, 3)]
    return did_you_mean(list(dict.fromkeys(near))[:5])


def ambiguity_error(name: str, where: str, choices: Sequence[str]) -> BadInput:
    """The error that lists a unique name for each of several definitions."""
    more = [f"and {len(choices) - _MAX_LISTED} more"] if len(choices) > _MAX_LISTED else []
    lines = (f"'{name}' is ambiguous in {where}, use one of:", *choices[:_MAX_LISTED], *more)
    return BadInput("\n  ".join(lines))
