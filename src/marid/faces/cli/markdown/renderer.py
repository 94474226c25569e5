"""Markdown from a model, rendered while it streams; reasoning beside it, dim and behind a border."""

from collections.abc import Callable

from marid.faces.cli.markdown.blocks import Blocks
from marid.faces.cli.markdown.ink import Ink
from marid.faces.cli.markdown.safe import Safe
from marid.faces.cli.markdown.style import Style
from marid.faces.cli.markdown.thoughts import Thoughts


class Renderer:
    """Takes text in any fragments; what is written does not depend on where they were split."""

    def __init__(
        self, write: Callable[[str], None], *, width: Callable[[], int], style: Style, colour: bool = True
    ) -> None:
        self._write = write
        self._ink = Ink(width, colour=colour)
        self._safe = Safe()
        self._blocks = Blocks(self._ink, style)
        self._thoughts = Thoughts(self._ink, style)
        self._speaking: Blocks | Thoughts | None = None

    def feed(self, text: str) -> None:
        """More of the answer: what is settled is written at once."""
        self._say(self._blocks, text)

    def feed_thinking(self, text: str) -> None:
        """More of the reasoning: plain words, on lines of its own."""
        self._say(self._thoughts, text)

    def end(self) -> None:
        """Write what is held. Afterwards the renderer is as new."""
        self._stop()
        self._ink.forget()
        self._hand_over()

    def _say(self, speaker: Blocks | Thoughts, text: str) -> None:
        if not text:
            return
        if self._speaking is not speaker:
            self._stop()
            self._speaking = speaker
        _spread(speaker, self._safe.feed(text))
        self._hand_over()

    def _stop(self) -> None:
        if self._speaking:
            _spread(self._speaking, self._safe.end())
            self._speaking.end()
        self._speaking = None

    def _hand_over(self) -> None:
        if text := self._ink.take():
            self._write(text)


def _spread(speaker: Blocks | Thoughts, text: str) -> None:
    """Hand over text line by line."""
    first, *others = text.split("\n")
    speaker.feed(first)
    for line in others:
        speaker.end_line()
        speaker.feed(line)
