"""Markdown as a person sees it on a terminal, whatever fragments it came in."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.faces.cli.markdown.renderer import Renderer
from marid.faces.cli.markdown.style import Style

OURS = re.compile(r"\x1b\[[0-9;]*[mK]")

MARKS = "* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ![ ]( [^ < <b > - 1. # ## | |---| |a| --- \\ a word 中 。 é x_y http://u"
BLANKS = [
    "\n",
    "\n\n",
    "    ",
    " ",
    "\t",
    "> ",
    "- ",
    "- [x] ",
    "\r",
    "\r\n",
    "\x1b[31m",
    "\u202e",
    "👨\u200d👩",
    '"t"',
]
PARTS = [*MARKS.split(" "), *BLANKS]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=25).map("".join) | st.text(max_size=60)


def rendered(*fragments: str, width: int = 30, colour: bool = False) -> str:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: width, style=Style(), colour=colour)
    for fragment in fragments:
        renderer.feed(fragment)
    renderer.end()
    return "".join(out)


def split(text: str, size: int) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


@given(TEXTS, st.integers(1, 7), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_written_does_not_depend_on_the_fragments(text: str, size: int, colour: bool) -> None:
    assert rendered(*split(text, size), colour=colour) == rendered(text, colour=colour)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_without_colour_the_same_is_written_without_escape_sequences(text: str) -> None:
    plain = rendered(text)
    assert plain == OURS.sub("", rendered(text, colour=True))
    assert all(char.isprintable() or char.isspace() or char in "\u200c\u200d" for char in plain)
    assert not set(plain) & set("\x1b\r\v\f\x85\u2028\u2029\x1c\x1d\x1e\x1f\u202e")


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_the_output_ends_with_exactly_one_newline_if_there_is_any(text: str) -> None:
    written = rendered(text)
    assert written == "" or (written.endswith("\n") and not written.endswith("\n\n"))


@given(st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1), st.integers(10, 80))
@settings(max_examples=100, deadline=None)
def test_plain_words_survive_in_order_and_lines_keep_to_the_width(words: list[str], width: int) -> None:
    written = rendered(" ".join(words), width=width)
    assert written.split() == words
    assert all(len(line) <= max(width, 12) for line in written.splitlines())


@pytest.mark.parametrize("mark", ["*", "`", "["])
def test_a_hundred_thousand_marks_come_out_as_they_are(mark: str) -> None:
    assert rendered("a" + mark * 100_000, width=200_000) == "a" + mark * 100_000 + "\n"


UNITS = ["[a](", "*a ", "_a* ", "` `` ", "<a", "<", "[^", "[a](b(", "[a](<", "![", "[[a](b)", "\\", "[*", '[a](b ") ']
LINES = [" ", "-", "- ", "> ", "#", "|", "|a\n|-\n", "|\n", "\n", "```\n\n", "1", "1. ", "中", "\x1b", "    a\n\n"]


@pytest.mark.parametrize("unit", UNITS + LINES)
def test_many_marks_in_single_characters_come_to_an_end(unit: str) -> None:
    text = unit * (3_000 // len(unit))
    assert rendered(*text) == rendered(text)


def test_a_megabyte_of_one_mark_comes_to_an_end() -> None:
    assert rendered("a" + "*" * 1_000_000) == "a" + "*" * 1_000_000 + "\n"


@pytest.mark.parametrize(
    ("start", "size"),
    [
        *((start, 150) for start in ("", "*a ", "[ ", "# ", "| ", "~~~ x ")),
        *((start, 1100) for start in ("```py\n", "    ", "> ```\n")),
        ("> ```\n> ", 2100),
    ],
)
def test_a_line_too_long_to_be_held_is_written_in_pieces(start: str, size: int) -> None:
    words = " ".join(["x" * 999] * size)
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 100, style=Style(), colour=False)
    for fragment in split(start + words, 50_000):
        renderer.feed(fragment)
    assert sum(map(len, out)) >= 100_000
    renderer.feed("\nend")
    renderer.end()
    assert "".join(out).split().count("x" * 999) == size
    assert "".join(out) == rendered(start + words + "\nend", width=100)


def test_words_are_written_as_they_come() -> None:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 40, style=Style(), colour=False)
    seen: list[str] = []
    for fragment in ["Hel", "lo wor", "ld and ", "**bo", "ld** ", "done"]:
        renderer.feed(fragment)
        seen.append("".join(out))
    assert seen == ["", "Hello", "Hello world and", "Hello world and", "Hello world and bold", "Hello world and bold"]
    renderer.end()
    assert "".join(out) == "Hello world and bold done\n"


def test_after_the_end_the_renderer_is_as_new() -> None:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 40, style=Style(), colour=False)
    for text in ["```\nopen *fence*", "*a", "\n\n- item", "  text", ""]:
        renderer.feed(text)
        renderer.end()
    assert "".join(out) == "open *fence*\n*a\n• item\ntext\n"


def test_thinking_stands_behind_a_border_on_lines_of_its_own() -> None:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 20, style=Style(), colour=False)
    renderer.feed_thinking("I *think* about the wea")
    renderer.feed_thinking("ther\n\n\nand")
    renderer.feed("It **ra")
    renderer.feed_thinking("")
    renderer.feed("ins**.")
    renderer.feed_thinking("hm\n")
    renderer.end()
    assert "".join(out) == "│ I *think* about\n│ the weather\n│\n│ and\nIt rains.\n│ hm\n"


def test_thinking_is_dim() -> None:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 20, style=Style(think_border="red"))
    renderer.feed_thinking("hm")
    renderer.end()
    assert "".join(out) == "\x1b[31m│ \x1b[0;2mhm\x1b[0m\n"


def test_the_width_is_asked_for_again_on_each_line() -> None:
    widths = iter([20, 8, *[20] * 50])
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: next(widths), style=Style(), colour=False)
    renderer.feed("one two three four five six seven eight")
    renderer.end()
    assert "".join(out) == "one two three four\nfive six\nseven eight\n"


def test_a_whole_answer_looks_like_this() -> None:
    text = """# Plan

Do **this** first, then
that.

1. Read `main.py`
   - the *loop*
2. Run:
   ```sh
   make  test
   ```

> Mind the gap.

| Step | Time |
|:-----|-----:|
| read | 1 s  |
---
[Docs](https://e.org/a_b_c)
"""
    assert (
        rendered(text)
        == """Plan
════

Do this first, then
that.

1. Read main.py
   • the loop
2. Run:
   sh
   make  test

│ Mind the gap.

┌──────┬──────┐
│ Step │ Time │
├──────┼──────┤
│ read │  1 s │
└──────┴──────┘
──────────────────────────────
Docs (https://e.org/a_b_c)
"""
    )
