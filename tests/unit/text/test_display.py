import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.display import (
    clip,
    escape_invisible,
    escape_text,
    find_deceptive,
    format_timestamp,
    human_size,
    join_limited,
    json_escaped_size,
    one_line,
    quote_path,
    truncate_middle,
    unquote_path,
)


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
def test_a_path_that_is_not_quoted_is_read_as_it_is(written: str, path: str) -> None:
    assert unquote_path(written) == path


def test_a_lone_surrogate_can_be_shown() -> None:
    assert quote_path("\ud800") == '"\\355\\240\\200"'


def test_text_is_shown_on_one_line_and_cut() -> None:
    assert escape_text("a\nb\x1b[0m\u202e é") == "a\\nb\\x1b[0m\\u202e é"
    assert one_line(" a\n b\x1bc ", 10) == "a b c"
    assert clip("abcd", 4) == one_line("abcd", 4) == "abcd"
    assert clip("abcdef", 4) == one_line("abcdef", 4) == "abc…"
    assert clip("ab cdef", 4) == "ab…"
    assert join_limited(["a", "b", "c"], 3) == "a, b, c"
    assert join_limited(["a", "b", "c"], 1) == "a and 2 more"


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (1536, "1.5 KB"),
        (35_200_000, "35.2 MB"),
        (5_400_000_000, "5.4 GB"),
    ],
)
def test_a_size_has_a_readable_unit(size: int, shown: str) -> None:
    assert human_size(size) == shown


def test_a_timestamp_is_local_time_and_empty_for_zero() -> None:
    assert format_timestamp(0) == ""
    assert format_timestamp(1_800_000_000_000) == time.strftime("%Y-%m-%d %H:%M", time.localtime(1_800_000_000))


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


@given(st.text())
def test_the_size_is_that_of_json_in_its_longest_form(text: str) -> None:
    assert json_escaped_size(text) >= len(json.dumps(text)) - 2
    assert json_escaped_size(text) >= len(json.dumps(text, ensure_ascii=False).encode()) - 2


@pytest.mark.parametrize(
    "text", ["x" * 5_000, "y\n" * 5_000, "\0" * 5_000, "€" * 5_000, "😀" * 5_000, "a" + "\0" * 4_999]
)
def test_what_is_too_long_keeps_its_beginning_and_its_end(text: str) -> None:
    short = truncate_middle(text, max_bytes=4_000)
    head, _, tail = short.partition("\n[... ")
    assert text.startswith(head)
    assert text.endswith(tail.partition(" characters left out ...]\n")[2])
    assert json_escaped_size(short) <= 4_060
    assert len(head) > 150


@given(st.text(max_size=300))
def test_what_fits_stays_as_it_is(text: str) -> None:
    assert truncate_middle(text, max_bytes=json_escaped_size(text)) == text


def test_the_note_counts_what_is_missing() -> None:
    assert truncate_middle("ab" * 1_000, max_bytes=10) == "ababa\n[... 1,990 characters left out ...]\nbabab"
