"""Markdown as a person sees it on a terminal while it streams."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.faces.cli.view.markdown import LONGEST_TEXT, Renderer
from marid.faces.cli.view.markdown_code import LineLexer, Piece, find_lexer
from marid.faces.cli.view.markdown_text import MEASURED_ROWS

OURS = re.compile(r"\x1b\[[0-9;]*[mK]")
MARKS = "* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ![ ]( [^ < <b > - 1. # ## | |---| |a| --- \\ a word 中 。 é x_y http://u"
BLANKS = [
    *("\n", "\n\n", "    ", " ", "\t", "> ", "- ", "- [x] ", "\r", "\r\n", "\x1b[31m", "\u202e", "👨\u200d👩", '"t"'),
]
TEXTS = st.lists(st.sampled_from([*MARKS.split(" "), *BLANKS]), max_size=25).map("".join) | st.text(max_size=60)
FORMS = [
    *("{}", "# {}", "- {}", "  - {}", "1. **{}**", "> {}", "> - *{}*", "| {} |", "`{}`", "~~{}~~", "[{}](u)"),
    *("<b>{}", ""),
]
FENCED = ["```py\n{}\n```", "- ~~~\n  {}\n  ~~~", "| a |\n|---|\n| {} |", "{}\n===", "![{}](u)", "[{}]: u", "    {}"]


def rendered(*fragments: str, width: int = 30, colour: bool = False) -> str:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: width, style={}, colour=colour)
    for fragment in fragments:
        renderer.feed(fragment)
    renderer.end()
    return "".join(out)


def split(text: str, size: int) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


def seen_after_each(fragments: Sequence[str]) -> list[str]:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 40, style={}, colour=False)
    seen: list[str] = []
    for fragment in fragments:
        renderer.feed(fragment)
        seen.append("".join(out))
    return seen


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


@given(st.lists(st.tuples(st.sampled_from(FORMS + FENCED), st.booleans()), max_size=12), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_every_word_of_the_source_is_seen_in_its_order(blocks: list[tuple[str, bool]], size: int) -> None:
    words = [f"w{number}x" for number, (form, _) in enumerate(blocks) if "{" in form]
    text = "".join(
        form.format(f"w{number}x") + ("\n\n" if blank else "\n") for number, (form, blank) in enumerate(blocks)
    )
    assert re.findall(r"w\d+x", rendered(*split(text, size), width=60)) == words


@given(st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1), st.integers(12, 80))
@settings(max_examples=100, deadline=None)
def test_plain_words_survive_in_order_and_lines_keep_to_the_width(words: list[str], width: int) -> None:
    written = rendered(" ".join(words), width=width)
    assert written.split() == words
    assert all(len(line) <= width for line in written.splitlines())


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize(
    "text", ["\x1b[2J", "&#x1b;[2J", "a&#x202e;b", "`\x1b[2J`", "```\x1b[2J\n\x9b2J\n", "[a](\x1b[2J)", "|\x1b|\n|-|\n"]
)
def test_what_a_terminal_would_obey_is_shown_instead(text: str, colour: bool) -> None:
    left = OURS.sub("", rendered(text, colour=colour))
    assert all(char.isprintable() or char == "\n" for char in left)


def test_links_and_images_are_text_that_says_where_they_lead() -> None:
    text = '[words](http://e.org) [http://good.org](http://evil.org) <http://a.b> ![pic](u.png "T") [x](javascript:1)'
    written = rendered(text, width=200, colour=True)
    assert "\x1b]" not in written
    assert OURS.sub("", written) == (
        'words (http://e.org) http://good.org (http://evil.org) http://a.b [image] pic (u.png "T") [x](javascript:1)\n'
    )


def test_a_paragraph_is_written_when_it_is_over() -> None:
    assert seen_after_each(["one ", "**two**\n", "three", "\n\n", "four\n# H\n"]) == [
        *[""] * 3,
        "one two\nthree\n",
        "one two\nthree\n\nfour\nH\n═\n",
    ]


def test_a_fence_appears_line_by_line_as_it_streams() -> None:
    assert seen_after_each(["```py\nx", " = 1\ny", "\n", "```"]) == ["py\n", "py\nx = 1\n", *["py\nx = 1\ny\n"] * 2]
    assert seen_after_each(["1. a\n   ```\n", "   b\n"]) == ["1. a\n", "1. a\n   b\n"]


def test_list_items_appear_as_they_come() -> None:
    assert seen_after_each(["- a\n", "- b\n  - c\n", "1. d\n"]) == ["", "• a\n• b\n", "• a\n• b\n  • c\n"]


def test_rows_of_a_long_table_appear_as_they_come() -> None:
    start = "|a|b|\n|-|-:|\n" + "|1|2|\n" * (MEASURED_ROWS - 1)
    before, after, later = seen_after_each([start, "|one|2|\n", "|long cell|3|\n"])
    assert before == ""
    assert after.startswith("┌────────┬────┐\n│ a      │  b │\n├────────┼────┤\n│ 1      │  2 │\n")
    assert later.removeprefix(after) == "│ long   │  3 │\n│ cell   │    │\n"


def test_a_multi_line_string_stays_coloured_over_its_lines() -> None:
    written = rendered('```py\nx = """a\nreturn b\n"""\nreturn c\n', colour=True).splitlines()
    assert "\x1b[33;40mreturn b" in written[2]
    assert "\x1b[94;40mreturn" in written[4]


class CountingLexer(LineLexer):
    """Count the characters that are read."""

    count = 0

    def lex(self, text: str, stack: list[str]) -> tuple[list[Piece], list[str]]:
        CountingLexer.count += len(text)
        return super().lex(text, stack)


def test_a_long_fence_is_read_once() -> None:
    from pygments.lexers.python import PythonLexer

    text = "```py\n" + "def f(x): return '''a'''  # /* note `\n" * 3000
    out: list[str] = []
    CountingLexer.count = 0
    renderer = Renderer(out.append, width=lambda: 80, style={}, lexer_of=lambda label: CountingLexer(PythonLexer()))
    for fragment in split(text, 5):
        renderer.feed(fragment)
    renderer.end()
    assert "".join(out).count("note") == 3000
    assert len(text) * 0.9 < CountingLexer.count <= 4 * len(text)


UNITS = [
    *("[a](", "*a ", "_a* ", "` `` ", "<a", "[^", "[a](b(", "![", "[[a](b)", "[*", ">", "> ", "[", "(", "- ", "#"),
    "|",
]


@pytest.mark.parametrize("unit", UNITS)
def test_ten_thousand_nested_marks_come_to_an_end(unit: str) -> None:
    text = unit * 10_000
    assert rendered(*split(text, 5_000), colour=True) == rendered(text, colour=True)


@pytest.mark.parametrize("start", ["", "# ", "| ", "```py\n", "    ", "> ```\n> ", "- "])
def test_a_line_too_long_to_be_held_is_written_in_parts(start: str) -> None:
    words = " ".join(f"w{number}" for number in range(20_000))
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 100, style={}, colour=False)
    for fragment in split(start + words, 7_000):
        renderer.feed(fragment)
    assert sum(map(len, out)) >= len(words) - 2 * LONGEST_TEXT
    renderer.end()
    assert re.findall(r"w\d+", "".join(out)) == words.split()


def test_after_the_end_the_renderer_is_as_new() -> None:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 40, style={}, colour=False)
    for text in ["```\nopen *fence*", "*a", "\n\n- item", "  text", ""]:
        renderer.feed(text)
        renderer.end()
    assert "".join(out) == "open *fence*\n*a\n• item\n  text\n"


def test_thinking_stands_behind_a_border_on_lines_of_its_own() -> None:
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: 20, style={}, colour=False)
    renderer.feed_thinking("I *think* about the wea")
    renderer.feed_thinking("ther\n\n\nand")
    renderer.feed("It **ra")
    renderer.feed_thinking("")
    renderer.feed("ins**.")
    renderer.feed_thinking("hm\n")
    renderer.end()
    assert "".join(out) == "│ I *think* about\n│ the weather\n│\n│ and\nIt rains.\n│ hm\n"
    out.clear()
    renderer = Renderer(out.append, width=lambda: 20, style={"think_border": "red"})
    renderer.feed_thinking("hm")
    renderer.end()
    assert "".join(out) == "\x1b[31m│ \x1b[0m\x1b[2mhm\x1b[0m\n"


def test_the_width_is_asked_for_again_at_each_block_and_wide_characters_count_twice() -> None:
    widths = iter([20, 8, 8])
    out: list[str] = []
    renderer = Renderer(out.append, width=lambda: next(widths), style={}, colour=False)
    renderer.feed("one two three four\n\none two three\n\n中中中中中")
    renderer.end()
    assert "".join(out) == "one two three four\n\none two\nthree\n\n中中中中\n中\n"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("## Two ##\n### C# is #\n###### Six#\n#hashtag", "Two\n───\nC# is\nSix#\n#hashtag\n"),
        ("Title\n===\nOther\n---", "Title\n═════\nOther\n─────\n"),
        ("- one two three four five six seven", "• one two three four five six\n  seven\n"),
        ("1. a\n10) b\n-\n- [ ] c", "1. a\n10) b\n• \n• [ ] c\n"),
        ("- a\n\n  more\n\nout", "• a\n\n  more\n\nout\n"),
        (">a\n\n> b\n>\n> c\n>", "│ a\n\n│ b\n│\n│ c\n"),
        ("> > a\n> b\nc", "│ │ a\n│ b\nc\n"),
        ("> ```\n>  a\nout *b*", "│  a\nout b\n"),
        ("~~~\n```\n\n\tb\n~~~~\na", "```\n\n\tb\na\n"),
        ("```a`b``` c", "a`b c\n"),
        ("a\n\n    b *c*\n- d\n\n      e", "a\n\nb *c*\n• d\n\n  e\n"),
        ("* * *\n--", "─" * 30 + "\n--\n"),
        ("x\n|a|\n|-|\n|1|2|\ny", "x\n┌───────┐\n│ a     │\n├───────┤\n│ 1 | 2 │\n└───────┘\ny\n"),
        ("- |a|\n  |-|", "• ┌───┐\n  │ a │\n  ├───┤\n  └───┘\n"),
        ("|a" * 9 + "\n" + "|-" * 9, "|a" * 9 + "\n" + "|-" * 9 + "\n"),
        ("|a|\n|b", "|a|\n|b\n"),
    ],
)
def test_blocks_look_like_this(text: str, seen: str) -> None:
    assert rendered(text) == seen


def test_an_unknown_language_has_no_lexer() -> None:
    assert find_lexer("nonsense") is None
