"""What is known of a regular expression before it runs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.regex.line_pattern import compile_pattern, literal_pattern, parse_pattern, try_literal_pattern


@pytest.mark.parametrize(
    ("source", "needles"),
    [
        (r"foo\d+bar_baz", ("bar_baz",)),
        (r"(foo)bar", ("foobar",)),
        (r"a(?:bc)+d", ("bc",)),
        (r"a(?:bc)*d", ("a",)),
        (r"(?>abc)\d", ("abc",)),
        (r"\bword\b.", ("word",)),
        (r"^import (os|sys)$", ("import ",)),
        (r"TODO|FIXME", ("TODO", "FIXME")),
        (r"(?:TODO|FIXME|)x?", ()),
        (r"|".join("abcdefghijklmnopqrstuvwxyz"), ()),
        (r"[abc]+", ()),
        (r"x?", ()),
        (r"é+abc", ("abc",)),
        (r"foo(?=barbaz)\d", ("foo",)),
        (r"(?i:abc)de\d", ("de",)),
        (r"(?i)AbC\d", ("abc",)),
        (r"(a)(?(1)bcd|e)", ("a",)),
        (r"(?x) a b c \d  # words", ("abc",)),
    ],
)
def test_every_match_holds_a_needle(source: str, needles: tuple[str, ...]) -> None:
    assert parse_pattern(source).required_literals == needles


@pytest.mark.parametrize("source", [r"foo\.bar\(", r"(foo)", r"\x41b", r"(?:a)(?:b)"])
def test_a_pattern_that_is_a_literal_is_ours(source: str) -> None:
    found = parse_pattern(source)
    assert found.is_literal
    assert re.fullmatch(source, found.required_literals[0])


@pytest.mark.parametrize("source", [r"(?i)foo", r"a|b", r"^a", r"\ba"])
def test_other_patterns_are_not_ours(source: str) -> None:
    assert not parse_pattern(source).is_literal


ATOMS = [
    "a",
    "b",
    ".",
    r"\w",
    r"\s",
    r"[^a]",
    r"[ab]",
    r"[^\n]",
    r"\W",
    r"\D",
    r"\b",
    "^",
    "$",
    r"\A",
    r"\Z",
    "x|y",
    r"[\t-\r]",
]
SOURCES = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["", "?", "*", "+", "{2}", "*?"])),
        st.builds("(?={}){}".format, inner, inner),
        st.builds("(?!{})".format, inner),
        st.builds("({}|{})".format, inner, inner),
    ),
    max_leaves=6,
)


@given(SOURCES, st.text("abxy \n", max_size=12))
def test_a_match_of_any_pattern_holds_a_needle_and_stays_in_its_line_if_it_says_so(source: str, text: str) -> None:
    try:
        pattern = parse_pattern(source)
    except BadInput:
        return
    for match in compile_pattern(source).finditer(text):
        if pattern.required_literals:
            assert any(needle in match[0] for needle in pattern.required_literals)
        if pattern.within_line:
            assert "\n" not in match[0]


@pytest.mark.parametrize("source", ["a.b", r"\d+", r"[^\n]*", r"a(?=b)", r"(a)\1", r"\S", "[a-z]", "(?:a|b)*"])
def test_what_cannot_match_a_line_end_is_searched_in_the_whole_text(source: str) -> None:
    assert parse_pattern(source).within_line


@pytest.mark.parametrize(
    "source", ["(?s)a.b", r"\s", r"[^a]", r"\Aa.", r"a\Z.", r"(?<!\n)a", r"(a)?(?(1)b|c)", "(?m-s:a).", r"[\x00-\x20]"]
)
def test_what_might_is_searched_line_by_line(source: str) -> None:
    assert not parse_pattern(source).within_line


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a(b", r"invalid pattern: .* at character 2"),
        ("*", r"nothing to repeat at character 1"),
        ("(?<=a+)b", r"look-behind requires fixed-width"),
        ("a{99999999999999}", "invalid pattern"),
        ("(" * 4000 + ")" * 4000, "nested too deeply"),
        (r"a\nb\d", "within one line"),
        (r"a\nb", "within one line"),
    ],
)
def test_a_wrong_pattern_is_refused_with_its_place(source: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse_pattern(source)


def test_an_odd_pattern_warns_nobody() -> None:
    assert parse_pattern("[[a]b.").source == "[[a]b."


def test_a_plain_pattern_needs_no_parser() -> None:
    found = try_literal_pattern("import os")
    assert found is not None
    assert (found.is_literal, found.required_literals) == (True, ("import os",))
    assert try_literal_pattern("a.b") is None


@pytest.mark.parametrize("source", ["", "a" * 5_001, "a\nb"])
def test_a_pattern_that_cannot_be_meant_is_refused(source: str) -> None:
    with pytest.raises(BadInput):
        try_literal_pattern(source)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("foo", "foo", True),
        ("foo", "x.foo(", True),
        ("foo", "foobar", False),
        ("foo", "_foo", False),
        ("foo", "éfoo", False),
        ("foo", "“foo”", True),
        ("foo(", "foo(x)", True),
        (".*", "a.*b", True),
        (".*", "abc", False),
        ("é", "né", False),
    ],
)
def test_a_word_does_not_go_on_at_either_end(name: str, text: str, found: bool) -> None:
    assert bool(re.search(literal_pattern(name, word=True).source, text)) is found
