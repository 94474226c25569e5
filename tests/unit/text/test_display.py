import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.display import escape_text, quote_path, unquote_path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/a b.py", "src/a b.py"),
        ("日本/é.txt", "日本/é.txt"),
        ("a\\b", "a\\b"),
        ('a"b', 'a"b'),
        ('"a', '"\\"a"'),
        ("a\nb", '"a\\nb"'),
        ("a\tb\\c", '"a\\tb\\\\c"'),
        ("\x1b[31m", '"\\033[31m"'),
        ("\udcff", '"\\377"'),
        ("a\u202eb", '"a\\342\\200\\256b"'),
        ("a\u2028b", '"a\\342\\200\\250b"'),
        ("", ""),
    ],
)
def test_a_path_that_could_be_misread_is_quoted_as_git_quotes_it(path: str, shown: str) -> None:
    assert quote_path(path) == shown
    assert unquote_path(shown) == path


@given(st.binary(max_size=40))
def test_every_name_can_be_read_back_and_shows_nothing_that_moves_a_cursor(raw: bytes) -> None:
    path = os.fsdecode(raw)
    shown = quote_path(path)
    assert shown.isprintable()
    assert unquote_path(shown) == path


@given(st.text(st.characters()))
def test_no_text_is_too_odd_to_be_shown_or_read_back(text: str) -> None:
    assert quote_path(text).isprintable()
    assert escape_text(text).isprintable()
    assert isinstance(unquote_path(text), str)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ('"\\999"', "\\999"),
        ('"\\12"', "\\12"),
        ('"\\77', '"\\77'),
        ('"\\101\\102"', "AB"),
        ('"\\\u0663\u0663\u0663"', "\\\u0663\u0663\u0663"),
        ('"', '"'),
        ('""', ""),
        ('"\\q"', "\\q"),
    ],
)
def test_what_nobody_quoted_is_read_as_it_stands(written: str, path: str) -> None:
    assert unquote_path(written) == path


def test_half_a_pair_which_no_name_holds_is_shown_all_the_same() -> None:
    assert quote_path("\ud800") == '"\\355\\240\\200"'


def test_text_is_shown_on_one_line() -> None:
    assert escape_text("a\nb\x1b[0m\u202e é") == "a\\nb\\x1b[0m\\u202e é"
