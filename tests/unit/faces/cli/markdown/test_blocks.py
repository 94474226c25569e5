"""Lines of every kind, as they are shown without colour."""

import pytest

from marid.faces.cli.markdown import blocks
from marid.faces.cli.markdown.blocks import Blocks
from marid.faces.cli.markdown.ink import Ink
from marid.faces.cli.markdown.style import Style


def shown(text: str, *, width: int = 24, colour: bool = False) -> str:
    ink = Ink(lambda: width, colour=colour)
    lines = Blocks(ink, Style(h1="red", code_bg="black", hr="blue", bullet="green", code_label="cyan"))
    first, *others = text.split("\n")
    lines.feed(first)
    for line in others:
        lines.end_line()
        lines.feed(line)
    lines.end()
    return ink.take()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("# One", "One\n═══\n"),
        ("## Two ##", "Two\n───\n"),
        ("### C# is #", "C# is\n"),
        ("###### Six#", "Six#\n"),
        ("#", ""),
        ("####### seven", "####### seven\n"),
        ("#hashtag", "#hashtag\n"),
        ("# a title of many words here", "a title of many words\nhere\n═════════════════════\n"),
    ],
)
def test_headings(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("- a\n* b\n+ c", "• a\n• b\n• c\n"),
        ("1. a\n10) b", "1. a\n10) b\n"),
        ("- one two three four five six", "• one two three four\n  five six\n"),
        ("- a\n  - b\n    - c\n- d", "• a\n  • b\n    • c\n• d\n"),
        ("1. a\n  - b", "1. a\n   • b\n"),
        ("- a\n\n  more\n\nout", "• a\n\n  more\n\nout\n"),
        ("- a\nout", "• a\nout\n"),
        ("-", "• \n"),
        ("- [ ] open\n- [X] done\n1. [x] first", "• [ ] open\n• [x] done\n1. [x] first\n"),
        ("- [x]no box\n- [y] no", "• [x]no box\n• [y] no\n"),
        ("-a\n1.5 x\n1234567890. x", "-a\n1.5 x\n1234567890. x\n"),
        ("- - a", "• • a\n"),
        ("- # a\n  b", "• a\n  ═\n  b\n"),
    ],
)
def test_lists(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("> a\n> b", "│ a\n│ b\n"),
        (">a\n\n> b\n>\n> c\n>", "│ a\n\n│ b\n│\n│ c\n"),
        ("> > a\n> b\nc", "│ │ a\n│ b\nc\n"),
        ("> one two three four five six", "│ one two three four\n│ five six\n"),
        ("- > a\n  > b", "• │ a\n  │ b\n"),
        ("> - a\n>   b", "│ • a\n│   b\n"),
        (">     code *x*", "│ code *x*\n"),
    ],
)
def test_quotes(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("```py\na = 1\n\n\tb  *c*\n```\nd", "py\na = 1\n\n\tb  *c*\nd\n"),
        ("~~~\n```\n~~~~\na", "```\na\n"),
        ("````\n```\n````", "```\n"),
        ("```\n    ```\n```", "    ```\n"),
        ("```\n" + "long " * 9 + "\n```", "long " * 9 + "\n"),
        ("```a`b``` c", "a`b c\n"),
        ("```\n\na\n\n\n```", "\na\n"),
        ("a\n```\n\n```\n\nb", "a\n\n\nb\n"),
        ("1. x\n   ```\n   a\n    b\n   ```", "1. x\n   a\n    b\n"),
        ("- ```\n  a", "• \n  a\n"),
        ("> ```\n>  a\n> ```\n> b", "│  a\n│ b\n"),
        ("> ```\n> a\nout *b*", "│ a\nout b\n"),
        ("a\n\n    b *c*\n\n      d\ne", "a\n\nb *c*\n\n  d\ne\n"),
        ("    a\n    - b", "a\n- b\n"),
        ("    - a", "• a\n"),
        ("a\n    b", "a\nb\n"),
    ],
)
def test_code(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize("text", ["---", "***", "_ _ _", " - - -  "])
def test_rules(text: str) -> None:
    assert shown(text, width=10) == "─" * 10 + "\n"


def test_two_dashes_and_too_many_of_them_are_no_rule() -> None:
    assert shown("--") == "--\n"
    assert shown("-" * 1000) == "-" * 1000 + "\n"


TABLE = "│ a │\n├───┤\n│ 1 │\n"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("|a|\n|-|\n|1|", f"┌───┐\n{TABLE}└───┘\n"),
        ("|a|\n|-|\n|1|\n\nx", f"┌───┐\n{TABLE}└───┘\n\nx\n"),
        ("|a|\n|b|\n|-|", "|a|\n┌───┐\n│ b │\n├───┤\n└───┘\n"),
        ("|a|\ntext", "|a|\ntext\n"),
        ("|a|\n> |-|", "|a|\n│ |-|\n"),
        ("- |a|\n  |-|", "• ┌───┐\n  │ a │\n  ├───┤\n  └───┘\n"),
        ("|*one* two three four five|b|\n|-|-|", "|one two three four\nfive|b|\n|-|-|\n"),
    ],
)
def test_tables(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_a_table_beyond_all_measure_is_written_before_it_ends() -> None:
    row = "|" + "x" * 999 + "|\n"
    ink = Ink(lambda: 80, colour=False)
    lines = Blocks(ink, Style())
    for part in ["|a|", "|-|", *[row.strip()] * (blocks.LARGEST_TABLE // 1000)]:
        lines.feed(part)
        lines.end_line()
    assert ink.take().count("x" * 999) >= blocks.LARGEST_TABLE // 1001


def test_blank_lines_stand_only_between_blocks_and_never_twice() -> None:
    assert shown("\n\na\n \n\t\n\nb\n\n") == "a\n\nb\n"
    assert shown("a\n" + " " * 2000 + "\nb") == "a\n\nb\n"


def test_sixteen_containers_are_enough() -> None:
    assert shown("> " * 18 + "a", width=80) == "│ " * 16 + "> > a\n"


def test_in_colour() -> None:
    assert shown("# a", colour=True) == "\x1b[1;31ma\x1b[0m\n\x1b[1;31m═\x1b[0m\n"
    assert shown("- a", colour=True) == "\x1b[32m• \x1b[0ma\n"
    assert shown("```x\na\n```", colour=True) == "\x1b[36mx\x1b[0m\n\x1b[97;40m\x1b[Ka\x1b[0m\n"
    assert shown("```\n\na", colour=True) == "\x1b[97;40m\x1b[K\x1b[0m\n\x1b[97;40m\x1b[Ka\x1b[0m\n"
    assert shown("---", colour=True, width=8) == "\x1b[34m────────\x1b[0m\n"
