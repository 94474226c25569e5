import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.line_search import (
    MAX_LINE_LENGTH,
    ExcerptLine,
    LineHit,
    LinePattern,
    clip_line,
    compile_pattern,
    excerpt_groups,
    find_hits,
    literal_pattern,
    parse_pattern,
    try_literal_pattern,
)


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
NESTED_SOURCES = st.recursive(
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


@given(st.sampled_from(["", "(?i)", "(?x)"]), NESTED_SOURCES, st.text("abAxy|({é\t ", max_size=12))
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


def test_hits_are_found_in_lines_of_any_ending_and_encoding() -> None:
    assert find_hits(parse_pattern("b+"), [b"a\nabb b\n"], 9) == [[LineHit(2, 1)]]
    assert find_hits(parse_pattern(r"b\s*"), [b"a\nabb b\n"], 9) == [[LineHit(2, 1)]]
    assert lines("a$", "a\r\nba\r\nab\r\n") == [1, 2]
    assert lines("b$", "a\u2028b\rc\x0bb\nb") == [1, 2]
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


DATA = b"".join(b"line %d\r\n" % number for number in range(1, 11))


def numbers(hits: list[int], before: int, after: int) -> list[list[int]]:
    found = excerpt_groups(DATA, [LineHit(line, 0) for line in hits], before, after)
    return [[one.number for one in group] for group in found]


def test_lines_around_hits_are_shown_and_groups_that_touch_are_one() -> None:
    assert numbers([5], 2, 1) == [[3, 4, 5, 6]]
    assert numbers([1, 10], 2, 2) == [[1, 2, 3], [8, 9, 10]]
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


def test_a_line_is_shown_decoded_and_without_its_ending() -> None:
    assert list(excerpt_groups(b"a\r\nb", [LineHit(1, 0), LineHit(2, 0)], 0, 0)) == [
        [ExcerptLine(1, "a", True), ExcerptLine(2, "b", True)]
    ]
    assert list(excerpt_groups(b"a", [], 2, 2)) == []
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
