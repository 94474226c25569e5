"""Patterns for lines and their required literals."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.line_search import compile_pattern, literal_pattern, parse_pattern, try_literal_pattern


@pytest.mark.parametrize(
    ("source", "literals"),
    [
        (r"foo\d+bar_baz", ("bar_baz",)),
        (r"(foo)bar", ("bar",)),
        (r"a(?:bc)*d", ("a",)),
        (r"[)\]]abc[]x]", ("abc",)),
        (r"(?#a)abc\d(?P<n>long[(]er)", ("abc",)),
        (r"ab?cd*e{2}f+", ("a",)),
        (r"x{1}yz{,3}w", ("y",)),
        (r"{ab}c{", ("ab}",)),
        (r"\bword\b.", ("word",)),
        (r"a\.b\tc\[.", ("a.b\tc[",)),
        (r"^import (os|sys)$", ("import ",)),
        (r"TODO|FIXME", ("TODO", "FIXME")),
        (r"(?:TODO|FIXME|)x?", ()),
        (r"TODO|x?", ()),
        (r"|".join("abcdefghijklmnopqrstuvwxyz"), ()),
        (r"[abc]+", ()),
        (r"é+abc", ("abc",)),
        (r"éé?abc", ("abc",)),
        (r"foo(?=barbaz)\d", ("foo",)),
        (r"(?i:abc)de\d", ("de",)),
        (r"(?i)AbC\d", ("abc",)),
        (r"(a)(?(1)bcd|e)f", ("f",)),
        (r"(?x) a b c \d  # comment", ()),
        (r"\x41bcd.", ()),
        (r"\N{DIGIT ONE}bcd.", ()),
        (r"(a)\1bcd.", ()),
    ],
)
def test_every_match_contains_a_required_literal(source: str, literals: tuple[str, ...]) -> None:
    assert parse_pattern(source).required_literals == literals


@pytest.mark.parametrize(
    ("source", "is_literal"),
    [(r"foo\.bar\(", True), (r"\\d", True), (r"(?i)foo", False), ("a|b", False), ("^a", False), (r"\ba", False)],
)
def test_only_escaped_text_is_a_literal(source: str, is_literal: bool) -> None:
    found = parse_pattern(source)
    assert found.is_literal is is_literal
    assert not is_literal or re.fullmatch(source, found.required_literals[0])


ATOMS = [
    *("a", "b", ".", r"\w", "[^a]", "[ab]", r"\b", "^", "$", r"\|", r"\n", "\t", "[]a]", r"\x61", r"\141", "b{"),
    *(r"\(", "[(]", "é"),
]
SOURCES = st.recursive(
    st.sampled_from([*ATOMS, "x|y", "(?i:A)", "(?#b)"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("{}{}".format, inner, st.sampled_from(["?", "*", "+", "{2}", "{0}", "*?", "{,2}"])),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["", "?", "*", "+", "{2}", "{0}", "*?", "++"])),
        st.builds("(?={}){}".format, inner, inner),
        st.builds("(?!{})".format, inner),
        st.builds("({}|{})".format, inner, inner),
    ),
    max_leaves=6,
)


@given(st.sampled_from(["", "(?i)", "(?x)"]), SOURCES, st.text("abAxy|({é\t ", max_size=12))
def test_a_match_of_any_pattern_contains_a_required_literal(flags: str, source: str, text: str) -> None:
    try:
        pattern = parse_pattern(flags + source)
    except BadInput:
        return
    for match in compile_pattern(flags + source).finditer(text):
        found = match[0].lower() if pattern.caseless else match[0]
        assert not pattern.required_literals or any(literal in found for literal in pattern.required_literals)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a(b", r"invalid pattern: .* at character 2"),
        ("*", r"nothing to repeat at character 1"),
        ("(?<=a+)b", r"look-behind requires fixed-width"),
        ("a{99999999999999}", "invalid pattern"),
        ("(" * 4000 + ")" * 4000, "nested too deeply"),
        (r"a\nb\d", "within one line"),
        ("a\nb.", "within one line"),
    ],
)
def test_an_invalid_pattern_is_refused_with_the_position(source: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse_pattern(source)


@pytest.mark.filterwarnings("error")
def test_an_odd_pattern_gives_no_warning() -> None:
    assert parse_pattern("[[a]b.").source == "[[a]b."


def test_a_plain_pattern_needs_no_parser() -> None:
    found = try_literal_pattern("import os")
    assert found is not None
    assert (found.is_literal, found.required_literals) == (True, ("import os",))
    assert try_literal_pattern("a.b") is None


@pytest.mark.parametrize("source", ["", "a" * 5_001, "a\nb"])
def test_an_empty_long_or_multiline_pattern_is_refused(source: str) -> None:
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
