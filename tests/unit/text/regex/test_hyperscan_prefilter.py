"""Nets let no match through."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.regex.hyperscan_prefilter import make_regex_prefilter
from marid.text.regex.line_hits import find_hits
from marid.text.regex.line_pattern import parse_pattern

SETS = ["[ab]", "[^a]", "[a-c]", r"[\w-]", r"[\s\d]", "[^\\W_]", "[é-ü]", "[kß]", r"\w", r"\W", r"\d", r"\s", r"\S"]
ATOMS = [
    *SETS,
    "a",
    "K",
    "s",
    "é",
    "ſ",
    ".",
    r"\b",
    r"\B",
    "^",
    "$",
    r"\A",
    r"\Z",
    "x|yz",
    "(?i:k)",
    "(?s:.)",
    "(?=a)",
    "(?<!b)",
]
SOURCES = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "*?", "++", "{70,}"])),
        st.builds("({}|{})".format, inner, inner),
        st.builds("(?>{})".format, inner),
    ),
    max_leaves=5,
)
TEXTS = st.text(st.sampled_from("abcxyzkKsSiI_1- \n\réßüſ\u212a\u0130\u2028中"), max_size=16)


@settings(max_examples=150, deadline=None)
@given(
    source=st.builds("{}{}".format, st.sampled_from(["", "(?i)", "(?s)", "(?a)", "(?im)"]), SOURCES),
    text=TEXTS,
    codec=st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_no_match_is_let_through(source: str, text: str, codec: str, ending: str) -> None:
    try:
        net = make_regex_prefilter(source)
        pattern = parse_pattern(source)
    except BadInput:
        return
    data = text.replace("\n", ending).encode(codec, "ignore")
    if net is not None and find_hits(pattern, [data], 1)[0]:
        assert net.may_match(data)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\bi[a-z]{3}\d\b", "some i and abcd1 and iabcd and iabc1x"),
        (r"self\.\w+ = \d{7}", "self.a = 123456\nself.b = c"),
        (r"(?i)k\d", "the k of K x 1"),
        (r"^\s*def (get|set)_\w+\(self\)", "def get(self)\nx def get_a(self)"),
        (r"é[a-c]", "eb fc é"),
        ("a" + "(?:" * 3 + "b" + "{50,60})" * 3, "a b"),
        ("(?:" * 200 + "a[bc]" + ")" * 200, "a bc"),
    ],
)
def test_most_texts_without_a_match_are_not_caught(source: str, text: str) -> None:
    net = make_regex_prefilter(source)
    assert net is not None
    assert not net.may_match(text.encode())


@pytest.mark.parametrize(
    "source", ["a*", "(a)?(?(1)b|c)d", r"(a)\1", "a$b", "(?:" * 9 + "ab" + "{50})" * 9, "a." * 600]
)
def test_what_hyperscan_cannot_has_no_net(source: str) -> None:
    assert make_regex_prefilter(source) is None


def test_a_wrong_pattern_is_refused() -> None:
    with pytest.raises(BadInput, match="invalid pattern"):
        make_regex_prefilter("(")
