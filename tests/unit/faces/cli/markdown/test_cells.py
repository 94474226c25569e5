"""Columns and places to break."""

import pytest

from marid.faces.cli.markdown.cells import cells, may_break


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("中文", 4), ("a中", 3), ("👩\u200d", 2), ("ｱ", 1)],
)
def test_wide_characters_take_two_columns_and_marks_none(text: str, count: int) -> None:
    assert cells(text) == count


@pytest.mark.parametrize("pair", ["中文", "a中", "中a", "👍👍", " 中"])
def test_a_line_may_end_beside_a_wide_character(pair: str) -> None:
    assert may_break(*pair)


@pytest.mark.parametrize("pair", ["ab", "éa", "中。", "「中", "中\u0301", "\u200d👩", "한글", "👍\U0001f3fb", "中("])
def test_a_line_does_not_end_inside_a_word_or_before_what_closes(pair: str) -> None:
    assert not may_break(*pair)
