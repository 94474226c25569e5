"""Borders and markers."""

from marid.faces.cli.markdown.margins import margins
from marid.faces.cli.markdown.starts import Container
from marid.faces.cli.markdown.style import Style

STYLE = Style(bullet="red", blockquote_border="green")


def test_markers_stand_on_the_first_line_and_space_below_them() -> None:
    containers = (Container(0, "10."), Container(4), Container(6, "• [x]"))
    first, rest = margins(containers, 2, STYLE)
    assert first == (("    ", ""), ("│ ", "32"), ("• [x] ", "31"))
    assert rest == (("    ", ""), ("│ ", "32"), ("      ", ""))


def test_a_line_in_nothing_has_no_margin() -> None:
    assert margins((), 0, STYLE) == ((), ())
