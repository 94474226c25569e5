"""Lines as they are written: margin, text in the look each piece asks for, and blank lines only between others."""

from collections.abc import Callable

from marid.faces.cli.markdown.cells import cells

Piece = tuple[str, str]  # text, and the parameters of the escape sequence for its look ("" for none)
Margin = tuple[Piece, ...]

_NARROWEST = 8  # columns for text, however deep the margin is
_MOST_BLANKS = 100  # kinds of blank lines held back at once; only nonsense has more


class Ink:
    """Collects what is to be written. The only place that makes escape sequences; without colour it makes none."""

    def __init__(self, width: Callable[[], int], *, colour: bool) -> None:
        self._width = width
        self._colour = colour
        self._out: list[str] = []
        self._look = ""
        self._begun = False
        self._blanks: list[tuple[str, int]] = []  # as drawn, and how often; 0 for one between blocks

    def take(self) -> str:
        """All that was written since the last time."""
        text = "".join(self._out)
        self._out.clear()
        return text

    def room(self, margin: Margin) -> int:
        """Columns left for text beside this margin."""
        return max(self._width() - sum(cells(text) for text, _ in margin), _NARROWEST)

    def start(self, margin: Margin, fill: str = "") -> None:
        """Begin a line; a look to fill it with is carried to the right edge."""
        for text, times in self._blanks:
            self._out.append(f"{text}\n" * max(times, 1))
        self._blanks.clear()
        self._begun = True
        for text, look in margin:
            self.add(text, look)
        if fill and self._colour:
            self._turn(fill)
            # Before the text: behind it, at the right edge, the last character would be erased.
            self._out.append("\x1b[K")

    def add(self, text: str, look: str = "") -> None:
        """More on the line."""
        if self._colour and look != self._look:
            self._turn(look)
        self._out.append(text)

    def stop(self) -> None:
        """End the line, and every look with it."""
        self._turn("")
        self._out.append("\n")

    def gap(self, margin: Margin) -> None:
        """A blank line between blocks: several are one, and none stands first or last."""
        if self._blanks and self._blanks[-1][1] == 0:
            self._blanks.pop()
        if self._begun:
            self._hold(self._drawn(margin), 0)

    def blank(self, margin: Margin, fill: str) -> None:
        """An empty line that counts, as in code; only at the very end it is dropped."""
        filled = f"\x1b[{fill}m\x1b[K\x1b[0m" if fill and self._colour else ""
        text = self._drawn(margin) + filled
        if self._blanks and self._blanks[-1][0] == text and self._blanks[-1][1]:
            self._blanks[-1] = (text, self._blanks[-1][1] + 1)
        else:
            self._hold(text, 1)

    def forget(self) -> None:
        """The end of all: the next line is a first one again."""
        self._begun = False
        self._blanks.clear()

    def _hold(self, text: str, times: int) -> None:
        if len(self._blanks) < _MOST_BLANKS:
            self._blanks.append((text, times))

    def _drawn(self, margin: Margin) -> str:
        """A margin with nothing beside it."""
        shown = [(text.rstrip(" "), text, look) for text, look in margin]
        while shown and not shown[-1][0]:
            shown.pop()
        if not shown:
            return ""
        pieces = [(text, look) for _, text, look in shown[:-1]] + [(shown[-1][0], shown[-1][2])]
        return "".join(f"\x1b[{look}m{text}\x1b[0m" if look and self._colour else text for text, look in pieces)

    def _turn(self, look: str) -> None:
        if look != self._look:
            self._out.append(f"\x1b[0;{look}m" if look and self._look else f"\x1b[{look or 0}m")
            self._look = look
