"""Choose a level for each file: the most useful in full, the next as outlines, the rest by name."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from marid.core.context import Level
from marid.core.errors import Exhausted

# An outline is about a tenth of its file; it is not parsed if half of that and a header would not fit.
_MIN_OUTLINE_DIVISOR = 20
_HEADER_TOKENS = 30


class Candidate(NamedTuple):
    """One file with its costs in tokens, in full and by name. `pinned_level` is the user's choice."""

    path: str
    full_cost: int
    name_cost: int
    score: float
    pinned_level: Level | None = None


def choose_levels(
    candidates: Sequence[Candidate],
    budget: int,
    outline_cost: Callable[[str], int | None],
) -> dict[str, Level]:
    """The level of each file; `outline_cost` may be None. Raises: Exhausted if not even the names fit."""
    levels = {one.path: one.pinned_level or Level.NAME for one in candidates}
    spent = sum(_cost(one, levels[one.path], outline_cost) for one in candidates)
    if spent > budget:
        raise Exhausted(_too_small_message(candidates, spent, budget))
    free = sort_by_score(one for one in candidates if one.pinned_level is None)
    if spent + sum(one.full_cost - one.name_cost for one in free) <= budget:
        return levels | {one.path: Level.FULL for one in free}
    for one in free:
        left = budget - spent
        # At most half of what is left, so that one large file does not displace all others.
        if one.full_cost - one.name_cost <= left // 2:
            levels[one.path] = Level.FULL
            spent += one.full_cost - one.name_cost
        elif _HEADER_TOKENS + one.full_cost // _MIN_OUTLINE_DIVISOR <= left:
            cost = outline_cost(one.path)
            if cost is not None and cost < one.full_cost and cost - one.name_cost <= left:
                levels[one.path] = Level.OUTLINE
                spent += cost - one.name_cost
    return _promote_to_full(free, levels, budget - spent, outline_cost)


def sort_by_score(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The most useful first."""
    return sorted(candidates, key=lambda one: (-one.score, one.path))


def _promote_to_full(
    free: Sequence[Candidate], levels: dict[str, Level], left: int, outline_cost: Callable[[str], int | None]
) -> dict[str, Level]:
    """Spend the rest on the most useful files that are not yet in full."""
    for one in free:
        extra = one.full_cost - _cost(one, levels[one.path], outline_cost)
        if levels[one.path] is not Level.FULL and extra <= left:
            levels[one.path] = Level.FULL
            left -= extra
    return levels


def demote_least_useful(candidates: Sequence[Candidate], levels: dict[str, Level]) -> dict[str, Level]:
    """Show the least useful of the files by name. Raises: Exhausted if all are."""
    shown = [one for one in candidates if one.pinned_level is None and levels[one.path] is not Level.NAME]
    if not shown:
        raise Exhausted("the files do not fit into the budget even by name: raise --budget, or exclude files")
    least = min(shown, key=lambda one: (one.score, one.path))
    return levels | {least.path: Level.NAME}


def _cost(one: Candidate, level: Level, outline_cost: Callable[[str], int | None]) -> int:
    if level is Level.NAME:
        return one.name_cost
    if level is Level.OUTLINE:
        cost = outline_cost(one.path)
        return one.full_cost if cost is None else cost
    return one.full_cost


def _too_small_message(candidates: Sequence[Candidate], spent: int, budget: int) -> str:
    return (
        f"the budget of {budget:,} tokens is too small: {len(candidates):,} files need {spent:,} even by name; "
        "raise --budget, or exclude files with --rule '!PATTERN'"
    )
