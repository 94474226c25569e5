"""Status lines of a round on stderr: tools, warnings, and a line while waiting for the model."""

import contextlib
import time
from collections.abc import Callable
from typing import TextIO

from marid.core.events import Notice, QuestionAsked
from marid.core.model_io import RetryScheduled, Usage
from marid.core.round_events import (
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    RoundEvent,
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
        encoding = self._stream.encoding or "utf-8"
        with contextlib.suppress(OSError):
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()


class WaitIndicator:
    """A line on the terminal that counts the seconds of a wait."""

    def __init__(self, err: StatusStream, *, shown: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._err = err
        self._is_enabled = shown
        self._clock = clock
        self._since: float | None = None
        self._pause = 0.0
        self._why = ""
        self._visible = False

    def begin(self, pause: float = 0.0, why: str = "") -> None:
        """Start the wait; the first `pause` seconds are the delay before a retry, for the reason `why`."""
        self.clear()
        self._since = self._clock()
        self._pause = pause
        self._why = why

    def end(self) -> None:
        """End the wait."""
        self.clear()
        self._since = None

    def clear(self) -> None:
        """Remove the line until the next `tick`."""
        if self._visible:
            self._visible = False
            self._err.write_raw(_CLEAR)

    def tick(self) -> None:
        """Show the delay that is left, or how long the wait has been."""
        if self._since is None or not self._is_enabled:
            return
        passed = self._clock() - self._since
        if passed < self._pause:
            left = self._pause - passed
            self._show(f"retrying in {f'{left:.0f}' if left >= 1 else f'{max(left, 0.1):.1f}'} s: {self._why}")
        elif passed - self._pause >= _WAIT_THRESHOLD:
            self._show(f"waiting for the model, {passed:.0f} s")

    def _show(self, line: str) -> None:
        self._visible = True
        self._err.write_raw(_CLEAR + escape_text(line)[: self._err.width - 1])

    async def run(self) -> None:
        """Call `tick` until cancelled."""
        import anyio

        while self._is_enabled:
            await anyio.sleep(_TICK)
            self.tick()


class StatusLines:
    """Prints status lines; without `verbose` only early ends, problems and pending approvals."""

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
        """Print a line, unless it was printed before."""
        if text not in self._printed:
            self._printed.add(text)
            self._err.write(f"marid: {escape_controls(text)}\n")

    def break_line(self) -> None:
        """Begin a new line, on a terminal."""
        if self._err.terminal:
            self._err.write("\n")

    def handle(self, what: RoundEvent) -> None:
        """Show an event if it matters, or with `verbose`."""
        match what:
            case Notice(text=text):
                self.print_once(text)
            case FuelExhausted(total=total):
                self.fuel_reported = True
                self.print_once(_fuel_text(total, empty=self._was_empty))
            case WindowWarning(tokens_remaining=remaining, limit=limit):
                self.print_once(f"the window is nearly full: about {remaining:,} of {limit:,} tokens left")
            case QuestionAsked(tool=tool) if not self._asks_here:
                self.print_once(f"{tool} waits for approval: run `marid approvals`")
            case FuelStatus(event=event):
                self._was_empty = event == _EMPTY_RESPONSE
                self._print_detail(what)
            case _:
                self._print_detail(what)

    def _print_detail(self, what: RoundEvent) -> None:
        match what:
            case ToolStarted(name=name, summary=summary) if self._tools:
                self._print_line(f"[{name}] {summary or ''}".rstrip())
            case ToolEnded(name=name, result=text, failed=failed) if self._tools:
                self._print_line(f"[{name}] {_result_text(text, failed=failed)}")
            case FuelStatus(remaining=remaining, total=total) if self._verbose:
                self._print_line(f"[fuel] {remaining} of {total} left")
            case InboxInjected(messages=count) if self._verbose:
                self._print_line(f"[inbox] {count} {'message' if count == 1 else 'messages'}")
            case RetryScheduled(attempt=attempt, seconds=seconds, why=why) if self._verbose:
                self._print_line(f"[attempt {attempt}] in {seconds:g} s: {why}")
            case UsageReported(model=model, usage=usage) if self._verbose:
                self._print_line(f"[usage] {model}: {_usage_text(usage)}")
            case _:
                pass

    def _print_line(self, text: str) -> None:
        shown = escape_text(clip(text, _MAX_LINE))
        self._err.write(f"{_DIM}{shown}{_PLAIN}\n" if self._colour else f"{shown}\n")


def _fuel_text(total: int, *, empty: bool) -> str:
    """Why the fuel ran out; an empty reply may cost more than one request."""
    if empty:
        return "out of fuel: the model returned only empty answers (each costs `fuel_empty_response_cost`)"
    requests = "one request" if total == 1 else f"{total} requests"
    return f"out of fuel: {requests} in one round (see the setting `fuel`)"


def _result_text(text: str, *, failed: bool) -> str:
    if failed:
        return f"failed: {text.strip().partition(chr(10))[0]}"
    return f"{len(text):,} {'character' if len(text) == 1 else 'characters'}"


def _usage_text(usage: Usage) -> str:
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    thought = f" ({usage.reasoning:,} reasoning)" if usage.reasoning else ""
    about = "about " if usage.estimated else ""
    return f"{about}{usage.input:,} tokens in{cached}, {about}{usage.output:,} out{thought}"
