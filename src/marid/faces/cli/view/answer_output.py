"""The answer on stdout: plain in a pipe; on a terminal escaped, or rendered as markdown."""

import os
import select
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TextIO

from marid.faces.cli.view.console import write_stderr
from marid.faces.signals import SignalGuard
from marid.text.display import escape_text

if TYPE_CHECKING:
    from marid.faces.cli.view.markdown import Renderer


DEFAULT_WIDTH = 80


class MarkdownLook(NamedTuple):
    """The colours of the settings, and whether to use them."""

    style: Mapping[str, str]
    colour: bool


def terminal_width(descriptor: int) -> int:
    """The width of a terminal, or 80."""
    try:
        return os.get_terminal_size(descriptor).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH


def make_renderer(write: Callable[[str], None], width: Callable[[], int], look: MarkdownLook) -> "Renderer":
    """A renderer for streamed markdown."""
    from marid.faces.cli.view.markdown import Renderer  # imported when used: a pipe does not need rich

    return Renderer(write, width=width, style=look.style, colour=look.colour)


def render_markdown(text: str, look: MarkdownLook) -> str:
    """Render a whole text for stdout; it ends with one newline."""
    parts: list[str] = []
    renderer = make_renderer(parts.append, lambda: terminal_width(1), look)
    renderer.feed(text.encode("utf-8", "backslashreplace").decode())
    renderer.end()
    return "".join(parts).rstrip("\n") + "\n"


class AnswerStream:
    """Stdout, unbuffered. `at_start` says whether the next text begins a line.

    A closed pipe or a full disk does not raise inside the round: it is kept in `error`, `stop` is called, and nothing
    more is written.
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
        """Columns of the terminal."""
        return terminal_width(self._descriptor)

    def write(self, text: str) -> None:
        """Write at once; Ctrl-C ends the wait for a slow reader."""
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
        """In the encoding of the terminal; else in UTF-8, where file names that are not UTF-8 keep their bytes."""
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
                # Another process that shares the descriptor has set O_NONBLOCK.
                select.select([], [self._descriptor], [])


class StatusStream:
    """Stderr. It shares the terminal with the answer, so a line here first ends an unfinished line of the answer.

    A closed stderr is ignored.
    """

    def __init__(self, stream: TextIO, out: AnswerStream) -> None:
        self._stream = stream
        self._out = out
        self.terminal = stream.isatty()
        self.at_start = True

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return terminal_width(self._stream.fileno()) if self.terminal else DEFAULT_WIDTH

    def write(self, text: str) -> None:
        """Write at once."""
        if self.terminal and self._out.terminal and not self._out.at_start:
            self._out.at_start = True
            text = f"\n{text}"
        self.at_start = text.endswith("\n")
        self.write_raw(text)

    def write_raw(self, text: str) -> None:
        """Write without ending a line of the answer first."""
        write_stderr(text, self._stream)


class PlainAnswer:
    """Text without rendering. On a terminal, control characters are escaped."""

    def __init__(self, stream: AnswerStream | StatusStream) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        self._stream.write(escape_for_terminal(text) if self._stream.terminal else text)

    def close(self) -> None:
        if not self._stream.at_start:
            self._stream.write("\n")


class MarkdownAnswer:
    """Rendered markdown, one reply or one piece of reasoning at a time."""

    def __init__(self, stream: AnswerStream | StatusStream, look: MarkdownLook, *, reasoning: bool = False) -> None:
        self._stream = stream
        self._look = look
        self._is_reasoning = reasoning
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
    """`text` with newlines and tabs, but all other control characters escaped."""
    lines = text.replace("\r\n", "\n")
    return "".join(char if char in "\n\t" or char.isprintable() else escape_text(char) for char in lines)
