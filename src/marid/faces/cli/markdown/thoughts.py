"""Reasoning as it is shown: dim words behind a border, marks and all."""

from marid.faces.cli.markdown.ink import Ink, Margin
from marid.faces.cli.markdown.margins import BORDER
from marid.faces.cli.markdown.paragraph import Paragraph
from marid.faces.cli.markdown.style import Style, foreground

_DIM = "2"


class Thoughts:
    """Takes lines in fragments. `end_line` after each line, `end` after all."""

    def __init__(self, ink: Ink, style: Style) -> None:
        self._ink = ink
        self._margin: Margin = ((BORDER, foreground(style.think_border)),)
        self._paragraph = Paragraph(ink)
        self._open()

    def _open(self) -> None:
        self._paragraph.open(self._margin, look=_DIM)

    def feed(self, text: str) -> None:
        """More of the line; no line end in it."""
        self._paragraph.put(text)

    def end_line(self) -> None:
        """The line is over."""
        if not self._paragraph.close():
            self._ink.gap(self._margin)
        self._open()

    def end(self) -> None:
        """The reasoning is over, perhaps in the middle of a line."""
        self._paragraph.close()
        self._open()
