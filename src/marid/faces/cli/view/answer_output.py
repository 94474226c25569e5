"""The answer on stdout: plain in a pipe, safe on a terminal, rendered where that is wanted."""

import os
import select
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from marid.faces.cli.view.rendering import MarkdownLook, make_renderer, terminal_width
from marid.faces.signals import SignalGuard
from marid.text.display import escape_text

if TYPE_CHECKING:
    from marid.faces.cli.view.markdown import Renderer


class OutputStream(Protocol):
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


class AnswerWriter(Protocol):
    """Words of one kind, as they come."""

    def write(self, text: str) -> None:
        """More of them."""
        ...

    def close(self) -> None:
        """They are over; what follows stands on a line of its own. Nothing happens where nothing was said."""
        ...


class AnswerStream:
    """Where the answer goes, unbuffered.

    A reader that went away or a full disk does not break into the round: it calls `stop`. What went wrong is in
    `trouble`; nothing is written after it.
    """

    def __init__(self, stream: TextIO, signals: SignalGuard, stop: Callable[[], None]) -> None:
        self._signals = signals
        self._stop = stop
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self.error: BaseException | None = None
        self.terminal = stream.isatty()
        self.at_start = True

    @property
    def width(self) -> int:
        """How many columns there are."""
        return terminal_width(self._descriptor)

    def write(self, text: str) -> None:
        """Write now; Ctrl-C ends the wait for a reader who does not read."""
        if self.error is not None or not text:
            return
        self.at_start = text.endswith("\n")
        try:
            with self._signals.allow_interrupts():
                self._write_all(memoryview(self._encode(text)))
        except (OSError, KeyboardInterrupt) as error:
            self.error = error
            self._stop()

    def _encode(self, text: str) -> bytes:
        """For a terminal as it wants it; else UTF-8, in which names that are none keep their bytes."""
        if self.terminal:
            return text.encode(self._encoding, "backslashreplace")
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text.encode("utf-8", "backslashreplace")

    def _write_all(self, data: memoryview) -> None:
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                # Whoever shares the descriptor with us has made it so.
                select.select([], [self._descriptor], [])


class PlainAnswer:
    """As it comes. On a terminal control characters are shown, not obeyed."""

    def __init__(self, page: OutputStream) -> None:
        self._stream = page

    def write(self, text: str) -> None:
        self._stream.write(escape_for_terminal(text) if self._stream.terminal else text)

    def close(self) -> None:
        if not self._stream.at_start:
            self._stream.write("\n")


class MarkdownAnswer:
    """As markdown, one reply, or one thought, at a time."""

    def __init__(self, page: OutputStream, style: Mapping[str, str], *, colour: bool, thoughts: bool = False) -> None:
        self._stream = page
        self._look = MarkdownLook(style, colour)
        self._is_reasoning = thoughts
        self._renderer: Renderer | None = None

    def write(self, text: str) -> None:
        if self._renderer is None:
            self._renderer = make_renderer(self._stream.write, lambda: self._stream.width, self._look)
        feed = self._renderer.feed_thinking if self._is_reasoning else self._renderer.feed
        feed(text)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.end()
            self._renderer = None
        if not self._stream.at_start:
            self._stream.write("\n")


def escape_for_terminal(text: str) -> str:
    """`text` with its lines and tabs, but nothing else that moves a cursor or hides anything."""
    if text.isprintable():
        return text
    kept = "\n\t"
    lines = text.replace("\r\n", "\n")
    return "".join(char if char in kept or char.isprintable() else escape_text(char) for char in lines)
