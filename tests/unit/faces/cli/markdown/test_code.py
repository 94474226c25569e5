"""Fences and the lines between them."""

import pytest

from marid.faces.cli.markdown.code import Code, Fence, fence_of
from marid.faces.cli.markdown.ink import Ink
from marid.faces.cli.markdown.starts import Container
from marid.faces.cli.markdown.style import Style


def fence(line: str, column: int = 0, *containers: Container) -> Fence:
    found = fence_of(line, column, containers)
    assert found
    return found


def test_a_fence_has_marks_and_a_language() -> None:
    assert fence("````py title=x").mark == "````"
    assert fence("~~~ py `x`").label == "py"
    assert fence("```").label == ""
    assert fence_of("```a``` b", 0, ()) is None


@pytest.mark.parametrize(
    ("line", "closed"),
    [("```", True), ("   ````  ", True), ("    ```", False), ("``", False), ("``` x", False), ("~~~", False)],
)
def test_as_many_of_the_same_marks_close_it(line: str, closed: bool) -> None:
    assert fence("```").is_closed_by(line) is closed


def test_only_the_blanks_before_the_fence_are_taken_from_its_lines() -> None:
    assert fence("```", 3).exact("     a ") == "  a "
    assert fence("```", 5, Container(0), Container(2, "1.")).exact("     a") == "  a"


def test_the_lines_of_a_fence_in_a_quote_are_in_the_quote() -> None:
    inside = fence("```", 4, Container(0), Container(2))
    assert inside.inner("> >  a") == " a"
    assert inside.inner("> a") is None


def test_a_line_may_come_in_parts() -> None:
    ink = Ink(lambda: 20, colour=False)
    code = Code(ink, Style())
    code.label((), "py")
    code.part((("  ", ""),), "a")
    code.part((), "b")
    code.line((), "")
    code.line((), "")
    code.line((), "c")
    assert ink.take() == "py\n  ab\n\nc\n"
