"""Marks that belong together."""

import pytest

from marid.faces.cli.markdown.emphasis import BOLD, ITALIC, Emphasis, Token, can_close, can_open


@pytest.mark.parametrize(
    ("mark", "before", "after"), [("*", " ", "a"), ("**", "a", "b"), ("_", "(", "a"), ("~~", " ", "a")]
)
def test_marks_before_a_word_may_open(mark: str, before: str, after: str) -> None:
    assert can_open(mark, before, after)


@pytest.mark.parametrize(
    ("mark", "before", "after"),
    [("*", "a", " "), ("*", "2", "3"), ("_", "a", "b"), ("~", " ", "a"), ("****", " ", "a")],
)
def test_some_marks_may_not_open(mark: str, before: str, after: str) -> None:
    assert not can_open(mark, before, after)


@pytest.mark.parametrize(
    ("mark", "before", "after"),
    [("*", " ", "a"), ("*", "2", "3"), ("_", "a", "b"), ("~", "a", " "), ("****", "a", " ")],
)
def test_some_marks_may_not_close(mark: str, before: str, after: str) -> None:
    assert not can_close(mark, before, after)


def test_a_run_closes_the_nearest_of_its_kind_and_forgets_what_is_inside() -> None:
    tokens: list[Token] = []
    emphasis = Emphasis(tokens)
    for mark in ("**", "*", "~~"):
        tokens.append(Token(mark))
        emphasis.open(mark)
    assert emphasis.close("**") == 0
    assert not emphasis
    assert [token.text for token in tokens] == ["", "*", "~~", ""]
    assert tokens[0].turns == [(BOLD, 1)]
    assert tokens[3].turns == [(BOLD, -1)]


def test_one_of_three_marks_leaves_two_open() -> None:
    tokens = [Token("***")]
    emphasis = Emphasis(tokens)
    emphasis.open("***")
    assert emphasis.close("*") == 0
    assert tokens[0].text == "**"
    assert emphasis
    assert emphasis.close("**") == 0
    assert tokens[0].turns == [(ITALIC, 1), (BOLD, 1)]


def test_nothing_is_closed_that_was_not_opened() -> None:
    emphasis = Emphasis([])
    assert [emphasis.close(mark) for mark in ("*", "**", "***", "~~")] == [-1] * 4
