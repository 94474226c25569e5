"""Found lines with those around them."""

from hypothesis import given
from hypothesis import strategies as st

from marid.text.line_search import MAX_LINE_LENGTH, ExcerptLine, LineHit, clip_line, excerpt_groups

DATA = b"".join(b"line %d\r\n" % number for number in range(1, 11))


def numbers(hits: list[int], before: int, after: int) -> list[list[int]]:
    found = excerpt_groups(DATA, [LineHit(line, 0) for line in hits], before, after)
    return [[one.number for one in group] for group in found]


def test_lines_around_a_hit_are_shown() -> None:
    assert numbers([5], 2, 1) == [[3, 4, 5, 6]]
    assert numbers([1, 10], 2, 2) == [[1, 2, 3], [8, 9, 10]]


def test_groups_that_touch_are_one() -> None:
    assert numbers([2, 5], 1, 1) == [[1, 2, 3, 4, 5, 6]]
    assert numbers([2, 6], 1, 1) == [[1, 2, 3], [5, 6, 7]]
    assert numbers([2, 3], 0, 0) == [[2, 3]]


@given(st.sets(st.integers(1, 10)), st.integers(0, 3), st.integers(0, 3))
def test_each_line_is_shown_once_and_every_hit_is_marked(hits: set[int], before: int, after: int) -> None:
    shown = [
        one for group in excerpt_groups(DATA, [LineHit(n, 0) for n in sorted(hits)], before, after) for one in group
    ]
    assert len({one.number for one in shown}) == len(shown)
    assert {one.number for one in shown if one.is_hit} == hits


def test_a_line_is_shown_without_its_ending() -> None:
    assert list(excerpt_groups(b"a\r\nb", [LineHit(1, 0), LineHit(2, 0)], 0, 0)) == [
        [ExcerptLine(1, "a", True), ExcerptLine(2, "b", True)]
    ]
    assert list(excerpt_groups(b"a", [], 2, 2)) == []


def test_a_line_in_another_encoding_is_shown() -> None:
    shown = [
        one.text for group in excerpt_groups("é\n".encode() + b"caf\xe9\nx\0\n", [LineHit(2, 0)], 1, 1) for one in group
    ]
    assert shown == ["é", "café", "x\0"]


def test_an_overlong_line_is_cut_around_the_match() -> None:
    line = "x" * 5_000 + "needle" + "y" * 5_000
    shown = clip_line(line, 5_000)
    assert len(shown) == MAX_LINE_LENGTH + 6
    assert "needle" in shown
    assert clip_line(line).endswith("...")
    assert clip_line(line, len(line)).startswith("...x" if len(line) < MAX_LINE_LENGTH else "...y")
    assert clip_line("short", 3) == "short"
