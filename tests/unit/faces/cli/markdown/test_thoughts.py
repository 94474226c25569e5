"""Reasoning behind its border."""

from marid.faces.cli.markdown.ink import Ink
from marid.faces.cli.markdown.style import Style
from marid.faces.cli.markdown.thoughts import Thoughts


def test_lines_are_wrapped_and_blank_ones_stand_between() -> None:
    ink = Ink(lambda: 12, colour=False)
    thoughts = Thoughts(ink, Style())
    for line in ["", "**one** two three", "", "", "four"]:
        thoughts.feed(line)
        thoughts.end_line()
    thoughts.feed("fi")
    thoughts.end()
    assert ink.take() == "│ **one**\n│ two three\n│\n│ four\n│ fi\n"
