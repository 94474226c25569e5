"""Markup and references to footnotes."""

import pytest

from marid.faces.cli.markdown.atoms import LONGEST_FOOTNOTE, LONGEST_TAG, footnote_end, tag_end


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("<b>", 3),
        ("</b> x>", 4),
        ("<!-- x -->", 10),
        ("<https://a>", 11),
        ("< b>", 0),
        ("<1>", 0),
        ("<é>", 0),
        ("<a <b>", 0),
    ],
)
def test_markup_ends_with_its_bracket(text: str, end: int) -> None:
    assert tag_end(text, 0) == end
    assert tag_end("x" + text, 1) == (end + 1 if end else 0)


@pytest.mark.parametrize("text", ["<", "<b", "<b class='x'"])
def test_open_markup_is_undecided_until_it_is_too_long(text: str) -> None:
    assert tag_end(text, 0) is None
    assert tag_end(text + "b" * LONGEST_TAG, 0) == 0


@pytest.mark.parametrize(
    ("text", "end"), [("[^1]", 4), ("[^a-b]: x", 6), ("[^]", 0), ("[a]", 0), ("[^a b]", 0), ("[^[", 0)]
)
def test_a_footnote_has_a_name_without_blanks(text: str, end: int) -> None:
    assert footnote_end(text, 0) == end


def test_an_open_footnote_is_undecided_until_it_is_too_long() -> None:
    assert footnote_end("[", 0) is None
    assert footnote_end("[^a", 0) is None
    assert footnote_end("[^" + "a" * LONGEST_FOOTNOTE, 0) == 0
