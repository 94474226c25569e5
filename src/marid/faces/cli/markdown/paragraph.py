"""Words set into lines: wrapped between words, each as soon as it is known to fit."""

from marid.faces.cli.markdown.cells import cells, may_break
from marid.faces.cli.markdown.ink import Ink, Margin, Piece


class Paragraph:
    """One paragraph after the other. A word longer than a line stands on its own line, unbroken, as it comes."""

    def __init__(self, ink: Ink) -> None:
        self._ink = ink
        self.open(())

    def open(self, first: Margin, rest: Margin | None = None, *, look: str = "") -> None:
        """Begin: `first` stands before the first line, `rest` before the others. Nothing is written yet."""
        self._margin, self._rest = first, first if rest is None else rest
        self._base = look
        self._inked = False
        self._room = 0
        self._column = 0
        self.widest = 0
        self._word: list[Piece] = []
        self._word_cells = 0
        self._spilt = False
        self._space, self._space_look = 0, ""
        self._last = " "

    def put(self, text: str, look: str = "", *, exact: bool = False) -> None:
        """Add text without line ends; runs of spaces count as one unless they are to be exact."""
        if self._base:
            look = f"{self._base};{look}" if look else self._base
        first, *others = text.replace("\t", " ").split(" ")
        self._add(first, look)
        for word in others:
            self._end_word()
            self._last = " "
            if not self._space or exact:
                self._space_look = self._space_look if self._space else look
                self._space += 1
            self._add(word, look)

    def close(self, *, kept: bool = False) -> bool:
        """End the paragraph. One without a word writes nothing, unless its margin is to be kept; True if it wrote."""
        self._end_word()
        if kept and not self._inked:
            self._ink.start(self._margin)
            self._inked = True
        if self._inked:
            self._ink.stop()
        return self._inked

    def _add(self, text: str, look: str) -> None:
        if not text:
            return
        if text.isascii() and self._last.isascii():
            self._add_unbroken(text, look)
        else:
            for char in text:
                if may_break(self._last, char):
                    self._end_word()
                self._add_unbroken(char, look)
                self._last = char
        self._last = text[-1]

    def _add_unbroken(self, text: str, look: str) -> None:
        if self._spilt:
            self._ink.add(text, look)
            self._column += cells(text)
            return
        self._room = self._room or self._ink.room(self._margin)
        self._word.append((text, look))
        self._word_cells += cells(text)
        if self._word_cells > self._room:
            self._end_word()
            self._spilt = True

    def _end_word(self) -> None:
        self._spilt = False
        if not self._word:
            return
        if self._column and self._column + self._space + self._word_cells > self._room:
            self._next_line()
        if not self._inked:
            self._ink.start(self._margin)
            self._inked = True
        elif self._column and self._space:
            self._ink.add(" " * self._space, self._space_look)
            self._column += self._space
        for piece in self._word:
            self._ink.add(*piece)
        self._column += self._word_cells
        self.widest = max(self.widest, self._column)
        self._word = []
        self._word_cells = self._space = 0

    def _next_line(self) -> None:
        self._ink.stop()
        self._margin = self._rest
        self._room = self._ink.room(self._margin)
        self._inked = False
        self._column = 0
