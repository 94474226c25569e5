"""The answer on stdout: plain in a pipe, safe on a terminal, rendered where that is wanted."""

import os
import select
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from marid.faces.cli.rendering import Look, columns, renderer
from marid.faces.signals import Signals
from marid.text.visible import shown_text

if TYPE_CHECKING:
    from marid.faces.cli.markdown import Renderer


class Page(Protocol):
    """Somewhere to write: stdout, or stderr."""

    terminal: bool
    at_start: bool
    """Whether what is written next begins a line."""

    @property
    def width(self) -> int:
        """How many columns there are."""
        ...

    def write(self, text: str) -> None:
        """Write now."""
        ...


class Answer(Protocol):
    """Words of one kind, as they come."""

    def words(self, text: str) -> None:
        """More of them."""
        ...

    def close(self) -> None:
        """They are over; what follows stands on a line of its own. Nothing happens where nothing was said."""
        ...


class Out:
    """Where the answer goes, unbuffered.

    A reader that went away or a full disk does not break into the round: it calls `stop`. What went wrong is in
    `trouble`; nothing is written after it.
    """

    def __init__(self, stream: TextIO, signals: Signals, stop: Callable[[], None]) -> None:
        self._signals = signals
        self._stop = stop
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self.trouble: BaseException | None = None
        self.terminal = stream.isatty()
        self.at_start = True

    @property
    def width(self) -> int:
        """How many columns there are."""
        return columns(self._descriptor)

    def write(self, text: str) -> None:
        """Write now; Ctrl-C ends the wait for a reader who does not read."""
        if self.trouble is not None or not text:
            return
        self.at_start = text.endswith("\n")
        try:
            with self._signals.loose():
                self._put(memoryview(self._encoded(text)))
        except (OSError, KeyboardInterrupt) as error:
            self.trouble = error
            self._stop()

    def _encoded(self, text: str) -> bytes:
        """For a terminal as it wants it; else UTF-8, in which names that are none keep their bytes."""
        if self.terminal:
            return text.encode(self._encoding, "backslashreplace")
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text.encode("utf-8", "backslashreplace")

    def _put(self, data: memoryview) -> None:
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                # Whoever shares the descriptor with us has made it so.
                select.select([], [self._descriptor], [])


class Plain:
    """As it comes. On a terminal control characters are shown, not obeyed."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def words(self, text: str) -> None:
        self._page.write(safe(text) if self._page.terminal else text)

    def close(self) -> None:
        if not self._page.at_start:
            self._page.write("\n")


class Rendered:
    """As markdown, one reply, or one thought, at a time."""

    def __init__(self, page: Page, style: Mapping[str, str], *, colour: bool, thoughts: bool = False) -> None:
        self._page = page
        self._look = Look(style, colour)
        self._thoughts = thoughts
        self._renderer: Renderer | None = None

    def words(self, text: str) -> None:
        if self._renderer is None:
            self._renderer = renderer(self._page.write, lambda: self._page.width, self._look)
        feed = self._renderer.feed_thinking if self._thoughts else self._renderer.feed
        feed(text)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.end()
            self._renderer = None
        if not self._page.at_start:
            self._page.write("\n")


def safe(text: str) -> str:
    """`text` with its lines and tabs, but nothing else that moves a cursor or hides anything."""
    if text.isprintable():
        return text
    kept = "\n\t"
    lines = text.replace("\r\n", "\n")
    return "".join(char if char in kept or char.isprintable() else shown_text(char) for char in lines)
