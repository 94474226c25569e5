"""Which lines match."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.line_search import LineHit, LinePattern, find_hits, parse_pattern


def lines(source: str, text: str | bytes, max_hits: int = 100) -> list[int]:
    data = text.encode() if isinstance(text, str) else text
    return [hit.line for hit in find_hits(parse_pattern(source), [data], max_hits)[0]]


ANCHORS = ["^", "$", "^$", r"\ba", r"\Aa", r"b\Z", "^ab", "ab$"]
SOURCES = [*ANCHORS, "a|b.", "b?", r"a\s", "[^a]", "(?!a)b", "a.*b", "ab", "ab|ba", r"ba\s", "(?:ab)+b", "(?i)AB"]


@pytest.mark.parametrize("source", SOURCES)
@given(text=st.text("ab \n", max_size=20))
def test_a_line_matches_in_a_text_as_it_does_alone(source: str, text: str) -> None:
    alone = text.split("\n")
    if not alone[-1]:
        alone.pop()
    expected = [number for number, line in enumerate(alone, 1) if re.search(source, line)]
    assert lines(source, text) == expected


def test_a_hit_knows_its_column() -> None:
    assert find_hits(parse_pattern("b+"), [b"a\nabb b\n"], 9) == [[LineHit(2, 1)]]
    assert find_hits(parse_pattern(r"b\s*"), [b"a\nabb b\n"], 9) == [[LineHit(2, 1)]]


def test_the_end_of_a_line_is_found_before_a_carriage_return() -> None:
    assert lines("a$", "a\r\nba\r\nab\r\n") == [1, 2]


def test_only_line_feeds_end_lines() -> None:
    assert lines("b$", "a\u2028b\rc\x0bb\nb") == [1, 2]


def test_other_encodings_are_read() -> None:
    assert lines("é.", "x\né!\n".encode("utf-16")) == [2]
    assert lines("é.", b"x\n\xe9!\n") == [2]


def test_there_are_no_more_hits_than_wanted() -> None:
    pattern = parse_pattern("a.?")
    assert find_hits(pattern, [b"a\na\n", b"a\na\n", b"a\n"], 3) == [
        [LineHit(1, 0), LineHit(2, 0)],
        [LineHit(1, 0)],
        [],
    ]


def test_a_wrong_pattern_is_refused() -> None:
    with pytest.raises(BadInput):
        find_hits(LinePattern(source="("), [b""], 1)
