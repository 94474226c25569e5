"""Marks inside a line, as text and look."""

import pytest

from marid.faces.cli.markdown import spans
from marid.faces.cli.markdown.spans import Spans
from marid.faces.cli.markdown.style import Style

Pieces = list[tuple[str, str]]
NAMES = {
    "": "",
    "1": "bold",
    "3": "italic",
    "1;3": "both",
    "9": "struck",
    "4": "link",
    "97;40": "code",
    "1;97;40": "bold code",
    "34": "url",
    "35": "image",
    "36": "note",
    "3;4": "linked italic",
    "4;35": "linked image",
    "4;34": "linked url",
}


def read(text: str, size: int = 0) -> Pieces:
    out: Pieces = []

    def put(text: str, look: str = "", *, exact: bool = False) -> None:
        if out and out[-1][1] == NAMES[look]:
            text = out.pop()[0] + text
        out.append((text, NAMES[look]))

    line = Spans(put, Style())
    for place in range(0, len(text), size or len(text)):
        line.feed(text[place : place + (size or len(text))])
    line.end()
    return out


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a **b** c", [("a ", ""), ("b", "bold"), (" c", "")]),
        ("*a* _b_", [("a", "italic"), (" ", ""), ("b", "italic")]),
        ("***a***", [("a", "both")]),
        ("***a* b**", [("a", "both"), (" b", "bold")]),
        ("***a** b*", [("a", "both"), (" b", "italic")]),
        ("**a *b***", [("a ", "bold"), ("b", "both")]),
        ("*a **b***", [("a ", "italic"), ("b", "both")]),
        ("~~a~~ ~b~ ~~~c~~~", [("a", "struck"), (" ~b~ ~~~c~~~", "")]),
        ("**a *b** c*", [("a *b", "bold"), (" c*", "")]),
        ("a*** b", [("a*** b", "")]),
        ("*a***", [("*a***", "")]),
        ("****a****", [("****a****", "")]),
        ("这是**重点**内容", [("这是", ""), ("重点", "bold"), ("内容", "")]),
        ("**「重」**点", [("「重」", "bold"), ("点", "")]),
    ],
)
def test_emphasis(text: str, pieces: Pieces) -> None:
    assert read(text) == read(text, 1) == pieces


@pytest.mark.parametrize(
    "text",
    [
        "snake_case_word and __x",
        "2 * 3 * 4",
        "2*3*4",
        "**unclosed",
        "*a",
        "`a",
        "[a",
        "[a](b",
        "[a](b c)",
        "[a] (b)",
        "a] b",
        "![a",
        "a!",
        "a\\",
        "<b class='*x*'>",
        "<https://a_b_c_>",
        "1 < 2 *",
        "a <b",
        "[^ a]",
        "[^]",
        "[^a b",
    ],
)
def test_what_is_no_mark_stays_as_it_is(text: str) -> None:
    assert read(text) == read(text, 1) == [(text, "")]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("`a`", [("a", "code")]),
        ("`*a*`", [("*a*", "code")]),
        ("`` a`b ``", [("a`b", "code")]),
        ("` `", [(" ", "code")]),
        ("``a` *b*", [("``a` ", ""), ("b", "italic")]),
        ("` `` ``` `` `", [(" `` ``` `` ".strip(), "code")]),
        ("``` `` `x` ``` ``", [("`` `x`", "code"), (" ``", "")]),
        ("``` `` `x` `` `", [("``` ", ""), ("`x`", "code"), (" `", "")]),
        ("**`a`**", [("a", "bold code")]),
        ("\\`a`", [("`a`", "")]),
    ],
)
def test_code(text: str, pieces: Pieces) -> None:
    assert read(text) == read(text, 1) == pieces


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("[a](u)", [("a", "link"), (" (", ""), ("u", "url"), (")", "")]),
        ("[u](u) x", [("u", "link"), (" x", "")]),
        ("[a]()", [("a", "link")]),
        ('![a](u "t")', [("[image] ", "image"), ("a", "link"), (" (", ""), ("u", "url"), (")", "")]),
        ("*a [b* c](d)", [("a [b", "italic"), (" c](d)", "")]),
        ("[*a](u) b*", [("*a", "link"), (" (", ""), ("u", "url"), (") b*", "")]),
        ("[[a](u)", [("[", ""), ("a", "link"), (" (", ""), ("u", "url"), (")", "")]),
        ("[^1] [^note]:", [("[1]", "note"), (" ", ""), ("[note]", "note"), (":", "")]),
        ("[a](" + "x" * 3000 + ")", [("[a](" + "x" * 3000 + ")", "")]),
        ("\\[a](u) \\*b\\*", [("[a](u) *b*", "")]),
        (
            "[![a](i)](u)",
            [
                ("[image] ", "linked image"),
                ("a (", "link"),
                ("i", "linked url"),
                (")", "link"),
                (" (", ""),
                ("u", "url"),
                (")", ""),
            ],
        ),
    ],
)
def test_links_images_and_footnotes(text: str, pieces: Pieces) -> None:
    assert read(text) == read(text, 1) == pieces


def test_an_address_as_text_is_recognised_only_as_long_as_it_is_cheap() -> None:
    text = "[" + "*a*_a_" * 10 + "](" + "a" * 20 + ")"
    assert read(text)[-3:] == [(" (", ""), ("a" * 20, "url"), (")", "")]


def test_text_is_held_only_while_a_mark_is_open() -> None:
    seen: list[str] = []

    def put(text: str, look: str = "", *, exact: bool = False) -> None:
        seen.append(text)

    line = Spans(put, Style())
    for part, there in [
        ("a ", "a "),
        ("*b", "a "),
        (" c*", "a "),
        (" ", "a b c "),
        ("`d", "a b c "),
        ("` ", "a b c d "),
    ]:
        line.feed(part)
        assert "".join(seen) == there


def test_a_mark_that_is_open_for_too_long_is_text() -> None:
    text = "*a " + "b " * spans.MOST_HELD + "c* *d*"
    pieces = read(text)
    assert pieces == read(text, 7777)
    assert pieces == [(text[:-3], ""), ("d", "italic")]
