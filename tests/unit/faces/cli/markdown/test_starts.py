"""How lines begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.faces.cli.markdown.starts import LONGEST_START, Container, Kind, Start, dedented, read_start

QUOTE = Container(0)
ITEM = Container(0, "•")


def begin(text: str, *containers: Container, before: Kind = Kind.BLANK) -> Start:
    start = read_start(text, containers, before, complete=True)
    assert start
    return start


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a", Kind.TEXT),
        ("", Kind.BLANK),
        ("  \t", Kind.BLANK),
        ("# a", Kind.HEADING),
        ("```", Kind.FENCE),
        ("``a", Kind.TEXT),
        ("| a", Kind.ROW),
        ("* * *", Kind.RULE),
        ("\tcode", Kind.CODE),
        ("> ", Kind.BLANK),
        ("- ", Kind.TEXT),
        ("    ---", Kind.CODE),
    ],
)
def test_each_kind_has_its_start(text: str, kind: Kind) -> None:
    assert begin(text).kind is kind


def test_a_line_stands_in_what_it_continues() -> None:
    assert begin("  a", ITEM).containers == (ITEM,)
    assert begin("a", ITEM).containers == ()
    assert begin("", ITEM).containers == (ITEM,)
    assert begin("> a", QUOTE).containers == (QUOTE,)
    assert begin("a", QUOTE).containers == ()
    assert begin("    a", QUOTE).kind is Kind.CODE


def test_containers_that_begin_on_the_line_are_fresh() -> None:
    start = begin("> - [x] a", QUOTE)
    assert start.containers == (QUOTE, Container(2, "• [x]"))
    assert (start.fresh, start.at) == (1, 8)


@given(st.text("-*_+#`~|> \t[]x1.)a", max_size=12), st.sampled_from(list(Kind)))
def test_a_start_once_read_does_not_change(text: str, before: Kind) -> None:
    whole = begin(text, QUOTE, Container(2, "1."), before=before)
    for size in range(len(text)):
        part = read_start(text[:size], (QUOTE, Container(2, "1.")), before, complete=False)
        assert part is None or (part.kind, part.containers, part.at) == (whole.kind, whole.containers, whole.at)


@pytest.mark.parametrize("text", ["", "-", "--", "1", "#", "``", "- [", "> ", "  ", "- [x"])
def test_what_may_still_become_something_else_is_not_decided(text: str) -> None:
    assert read_start(text, (), Kind.BLANK, complete=False) is None


@pytest.mark.parametrize("char", "-#` ")
def test_a_start_that_is_too_long_is_decided_anyway(char: str) -> None:
    assert read_start(char * LONGEST_START, (), Kind.BLANK, complete=False)


def test_blanks_are_taken_off_up_to_a_column() -> None:
    assert dedented("   a", 2) == " a"
    assert dedented("\ta", 4) == "a"
    assert dedented("a", 4) == "a"
    assert dedented("  ", 4) == ""
