from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.assembly.budget.levels import Candidate, choose_levels, demote_least_useful
from marid.core.context import Level
from marid.core.errors import Exhausted


def no_outline(_path: str) -> int | None:
    return None


def outlines(**costs: int) -> Callable[[str], int | None]:
    return costs.get


def test_everything_that_fits_is_shown_in_full() -> None:
    files = [Candidate("a", 100, 5, 1.0), Candidate("b", 50, 5, 2.0)]
    assert choose_levels(files, 150, no_outline) == {"a": Level.FULL, "b": Level.FULL}


def test_the_most_useful_files_come_first() -> None:
    files = [Candidate("a", 50, 5, 1.0), Candidate("b", 50, 5, 3.0), Candidate("c", 50, 5, 2.0)]
    assert choose_levels(files, 120, no_outline) == {"a": Level.NAME, "b": Level.FULL, "c": Level.FULL}


def test_a_file_that_is_too_large_is_shown_as_its_outline() -> None:
    files = [Candidate("large", 1000, 5, 2.0), Candidate("small", 20, 5, 1.0)]
    assert choose_levels(files, 200, outlines(large=80)) == {"large": Level.OUTLINE, "small": Level.FULL}


def test_an_outline_that_is_no_shorter_is_not_taken() -> None:
    files = [Candidate("a", 100, 5, 2.0), Candidate("b", 60, 5, 1.0)]
    assert choose_levels(files, 80, outlines(a=100, b=60)) == {"a": Level.NAME, "b": Level.FULL}


def test_a_file_whose_outline_cannot_fit_is_not_parsed() -> None:
    asked: list[str] = []

    def cost(path: str) -> int:
        asked.append(path)
        return 1

    choose_levels([Candidate("huge", 100_000, 5, 2.0), Candidate("b", 900, 5, 1.0)], 500, cost)
    assert "huge" not in asked


def test_one_large_file_does_not_push_everything_else_out() -> None:
    files = [Candidate("large", 90, 5, 9.0), *(Candidate(name, 20, 5, 1.0) for name in "abc")]
    levels = choose_levels(files, 105, outlines(large=30))
    assert levels == {"large": Level.OUTLINE, "a": Level.FULL, "b": Level.FULL, "c": Level.FULL}


def test_what_is_left_tops_an_outline_up() -> None:
    files = [Candidate("a", 60, 5, 9.0), Candidate("b", 500, 5, 1.0)]
    assert choose_levels(files, 80, outlines(a=20)) == {"a": Level.FULL, "b": Level.NAME}


def test_the_user_s_own_levels_are_kept() -> None:
    files = [
        Candidate("name", 10, 5, 9.0, Level.NAME),
        Candidate("full", 50, 5, 0.0, Level.FULL),
        Candidate("outline", 90, 5, 0.0, Level.OUTLINE),
        Candidate("plain", 30, 5, 0.0, Level.OUTLINE),
    ]
    assert choose_levels(files, 200, outlines(outline=20)) == {
        "name": Level.NAME,
        "full": Level.FULL,
        "outline": Level.OUTLINE,
        "plain": Level.OUTLINE,
    }


def test_a_budget_below_the_names_is_refused_with_what_would_help() -> None:
    with pytest.raises(
        Exhausted, match=r"1,000 files need 5,000 even by name; raise --budget, or .* --rule '!PATTERN'"
    ):
        choose_levels([Candidate(str(n), 100, 5, 1.0) for n in range(1000)], 4999, no_outline)


def test_the_least_useful_file_that_is_shown_is_the_first_to_go() -> None:
    files = [Candidate("a", 9, 1, 2.0), Candidate("b", 9, 1, 1.0), Candidate("c", 9, 1, 0.5), Candidate("d", 9, 1, 0.0)]
    levels = {"a": Level.FULL, "b": Level.OUTLINE, "c": Level.NAME, "d": Level.FULL}
    files[3] = files[3]._replace(pinned_level=Level.FULL)
    assert demote_least_useful(files, levels) == {**levels, "b": Level.NAME}


def test_when_nothing_is_left_to_take_away_the_budget_is_too_small() -> None:
    with pytest.raises(Exhausted, match="even by name"):
        demote_least_useful([Candidate("a", 9, 1, 2.0)], {"a": Level.NAME})


def price(one: Candidate, level: Level, costs: dict[str, int]) -> int:
    return {Level.FULL: one.full_cost, Level.NAME: one.name_cost, Level.OUTLINE: costs.get(one.path, 0)}[level]


CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.text("abcdef", min_size=1, max_size=6),
        st.integers(5, 500),
        st.integers(1, 5),
        st.floats(-5, 15),
        st.sampled_from([None, None, Level.FULL, Level.NAME]),
    ),
    max_size=8,
    unique_by=lambda one: one.path,
)


@settings(deadline=None)
@given(
    CANDIDATES, st.integers(0, 1500), st.dictionaries(st.text("abcdef", min_size=1, max_size=6), st.integers(1, 400))
)
def test_what_is_chosen_never_costs_more_than_the_budget(
    candidates: list[Candidate], budget: int, costs: dict[str, int]
) -> None:
    try:
        levels = choose_levels(candidates, budget, costs.get)
    except Exhausted:
        assert sum(one.full_cost if one.pinned_level is Level.FULL else one.name_cost for one in candidates) > budget
    else:
        assert sum(price(one, levels[one.path], costs) for one in candidates) <= budget
        assert all(levels[one.path] is one.pinned_level for one in candidates if one.pinned_level)
