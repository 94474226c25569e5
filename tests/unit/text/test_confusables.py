import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.display import escape_invisible, find_deceptive


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("rm -rf x", "rm -rf x"),
        ("\tif x:", "\tif x:"),
        ("naïve 日本", "naïve 日本"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u00a0b", "a\\xa0b"),
        ("a\u3164b", "a\\u3164b"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("a\U000e0101b", "a\\U000e0101b"),
        ("a\ud800b", "a\\ud800b"),
    ],
)
def test_what_is_not_seen_as_what_it_is_becomes_an_escape(line: str, shown: str) -> None:
    assert escape_invisible(line) == shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ls -la\n\tx", ()),
        ("naïve café 日本 Ελλάδα Россия", ()),
        ("\x1b]8;;http://evil\x07", ("control characters",)),
        ("\x9b31m", ("control characters",)),
        ("a\u202eb\u2066", ("characters that turn the direction of text",)),
        ("a\u200bb", ("invisible characters",)),
        ("a\u2028b", ("invisible characters",)),
        ("a\U000e0041b", ("invisible characters",)),
        ("a\u3164b", ("invisible characters",)),
        ("rm\u00a0-rf", ("unusual spaces",)),
        ("\ud800", ("characters that belong to no text",)),
        ("p\u0430ypal.com", ("letters of several alphabets in one word",)),
        ("\u0430 b", ()),
        ("10 \u03bcs, \u0394t", ()),
        ("\u041e\u039ftag", ("letters of several alphabets in one word",)),
    ],
)
def test_what_deceives_is_named(text: str, words: tuple[str, ...]) -> None:
    assert find_deceptive(text) == words


@given(st.text(st.characters()))
def test_nothing_unprintable_is_left_and_what_was_hidden_is_told(text: str) -> None:
    line = text.replace("\n", "").replace("\t", "")
    shown = escape_invisible(line)
    assert shown.isprintable()
    if line.isascii() and shown != line:
        assert find_deceptive(line)
