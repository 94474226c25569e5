"""What is said besides the answer, on stderr: tools, thoughts, warnings, and a line while nothing comes."""

import contextlib
import time
from collections.abc import Callable
from typing import TextIO

from marid.core.events import Notice, QuestionAsked
from marid.core.model_io import Usage
from marid.core.round_events import (
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    RoundEvent,
    RoundRetrying,
    ToolEnded,
    ToolStarted,
    UsageReported,
    WindowWarning,
)
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import AnswerStream
from marid.faces.cli.view.console import escape_controls
from marid.faces.cli.view.rendering import DEFAULT_WIDTH, terminal_width
from marid.text.display import clip, escape_text

_DIM, _PLAIN, _CLEAR = "\x1b[2m", "\x1b[0m", "\r\x1b[K"
_WAIT_THRESHOLD = 1.0
_TICK = 0.5
_MAX_LINE = 300
_EMPTY_RESPONSE = "empty_response"


class StatusStream:
    """Where all else goes. Two terminals are one, so a line here does not begin in the middle of one of the answer's.

    Whoever closed it wants to hear nothing.
    """

    def __init__(self, stream: TextIO, out: AnswerStream) -> None:
        self._stream = stream
        self._out = out
        self.terminal = stream.isatty()
        self.at_start = True

    @property
    def width(self) -> int:
        """How many columns there are."""
        return terminal_width(self._stream.fileno()) if self.terminal else DEFAULT_WIDTH

    def write(self, text: str) -> None:
        """Write now."""
        if self.terminal and self._out.terminal and not self._out.at_start:
            self._out.at_start = True
            text = f"\n{text}"
        self.at_start = text.endswith("\n")
        self.write_raw(text)

    def write_raw(self, text: str) -> None:
        """Write what is no line of its own."""
        encoding = self._stream.encoding or "utf-8"
        with contextlib.suppress(OSError):
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()


class WaitIndicator:
    """A line on the terminal that counts the seconds while nothing comes, and goes away when something does."""

    def __init__(self, err: StatusStream, *, shown: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._err = err
        self._is_enabled = shown
        self._clock = clock
        self._since: float | None = None
        self._pause = 0.0
        self._why = ""
        self._visible = False

    def begin(self, pause: float = 0.0, why: str = "") -> None:
        """From now on nothing is expected to come for a while; the first `pause` seconds nobody is even asked."""
        self.clear()
        self._since = self._clock()
        self._pause = pause
        self._why = why

    def end(self) -> None:
        """Something has come."""
        self.clear()
        self._since = None

    def clear(self) -> None:
        """Take the line away; it comes back unless the wait has ended."""
        if self._visible:
            self._visible = False
            self._err.write_raw(_CLEAR)

    def tick(self) -> None:
        """Show how long it has been, if it has been long, or how long it will be."""
        if self._since is None or not self._is_enabled:
            return
        passed = self._clock() - self._since
        if passed < self._pause:
            left = self._pause - passed
            self._show(f"asking again in {f'{left:.0f}' if left >= 1 else f'{max(left, 0.1):.1f}'} s: {self._why}")
        elif passed - self._pause >= _WAIT_THRESHOLD:
            self._show(f"waiting for the model, {passed:.0f} s")

    def _show(self, line: str) -> None:
        self._visible = True
        self._err.write_raw(_CLEAR + escape_text(line)[: self._err.width - 1])

    async def run(self) -> None:
        """Keep it up to date, until cancelled."""
        import anyio

        while self._is_enabled:
            await anyio.sleep(_TICK)
            self.tick()


class StatusLines:
    """Lines for the person. Without `verbose` only those that matter: what ends early, what is wrong, who waits."""

    def __init__(self, err: StatusStream, display: DisplaySettings, *, colour: bool, asks_here: bool) -> None:
        self._err = err
        self._verbose = display.verbose
        self._tools = display.verbose and not display.hide_tool_calls
        self._colour = colour
        self._asks_here = asks_here
        self._printed: set[str] = set()
        self._was_empty = False
        self.fuel_reported = False

    def print_once(self, text: str) -> None:
        """A line that matters; the same one only once."""
        if text not in self._printed:
            self._printed.add(text)
            self._err.write(f"marid: {escape_controls(text)}\n")

    def break_line(self) -> None:
        """On a terminal, begin a new line."""
        if self._err.terminal:
            self._err.write("\n")

    def handle(self, what: RoundEvent) -> None:
        """Show what is meant for everybody, and with `verbose` the rest."""
        match what:
            case Notice(text=text):
                self.print_once(text)
            case FuelExhausted(total=total):
                self.fuel_reported = True
                self.print_once(_fuel_text(total, empty=self._was_empty))
            case WindowWarning(remaining=remaining, limit=limit):
                self.print_once(f"the window is nearly full: about {remaining:,} of {limit:,} tokens are left")
            case QuestionAsked(tool=tool) if not self._asks_here:
                self.print_once(f"'{tool}' waits for an answer: `marid approvals` shows what it asks")
            case FuelStatus(event=event):
                self._was_empty = event == _EMPTY_RESPONSE
                self._print_detail(what)
            case _:
                self._print_detail(what)

    def _print_detail(self, what: RoundEvent) -> None:
        match what:
            case ToolStarted(name=name, summary=summary) if self._tools:
                self._print_line(f"[{name}] {summary}".rstrip())
            case ToolEnded(name=name, text=text, failed=failed) if self._tools:
                self._print_line(f"[{name}] {_result_text(text, failed=failed)}")
            case FuelStatus(remaining=remaining, total=total) if self._verbose:
                self._print_line(f"[fuel] {remaining} of {total} left")
            case InboxInjected(messages=count) if self._verbose:
                self._print_line(f"[inbox] {count} {'message' if count == 1 else 'messages'}")
            case RoundRetrying(attempt=attempt, seconds=seconds, why=why) if self._verbose:
                self._print_line(f"[try {attempt}] in {seconds:g} s: {why}")
            case UsageReported(model=model, usage=usage) if self._verbose:
                self._print_line(f"[usage] {model}: {_usage_text(usage)}")
            case _:
                pass

    def _print_line(self, text: str) -> None:
        shown = escape_text(clip(text, _MAX_LINE))
        self._err.write(f"{_DIM}{shown}{_PLAIN}\n" if self._colour else f"{shown}\n")


def _fuel_text(total: int, *, empty: bool) -> str:
    """Why no request is left; an empty reply costs more than one."""
    if empty:
        return (
            "the model says nothing: its empty replies have used up the fuel (`fuel_empty_response_cost` is for each)"
        )
    requests = "one request" if total == 1 else f"{total} requests"
    return f"the fuel is used up: {requests} for one round (`fuel` sets how many)"


def _result_text(text: str, *, failed: bool) -> str:
    if failed:
        return f"failed: {text.strip().partition(chr(10))[0]}"
    return f"{len(text):,} {'character' if len(text) == 1 else 'characters'}"


def _usage_text(usage: Usage) -> str:
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    thought = f" ({usage.reasoning:,} of them thoughts)" if usage.reasoning else ""
    about = "about " if usage.estimated else ""
    return f"{about}{usage.input:,} tokens in{cached}, {about}{usage.output:,} out{thought}"
