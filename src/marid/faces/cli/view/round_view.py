"""Show a round: the answer on stdout; tools, warnings and a line while waiting for the model on stderr."""

import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from marid.core.events import Event, Notice, QuestionAsked
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage
from marid.core.round_events import (
    EntryStored,
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    ReplyEnded,
    RoundEnd,
    RoundEvent,
    ToolEnded,
    ToolStarted,
    UsageReported,
    WindowWarning,
)
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import AnswerStream, MarkdownAnswer, MarkdownLook, PlainAnswer, StatusStream
from marid.faces.cli.view.console import count_text, escape_controls
from marid.text.display import clip, escape_text

_DIM, _PLAIN, _CLEAR = "\x1b[2m", "\x1b[0m", "\r\x1b[K"
_WAIT_THRESHOLD = 1.0
_TICK = 0.5
_MAX_LINE = 300
_EMPTY_RESPONSE = "empty_response"
_END_TEXTS = {
    "fuel": "out of fuel",
    "loop": "stopped: the model keeps making the same tool call",
    "empty": "the model returned an empty answer",
    "length": "answer truncated: it reached the token limit (`api.max_tokens`)",
    "filtered": "answer truncated by the provider's content filter",
    "nothing": "nothing to resume: the last round is complete",
}


AnswerWriter: TypeAlias = PlainAnswer | MarkdownAnswer


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
        if (text := _tool_text(what) if self._tools else "") or (text := _detail_text(what) if self._verbose else ""):
            self._print_line(text)

    def _print_line(self, text: str) -> None:
        shown = escape_text(clip(text, _MAX_LINE))
        self._err.write(f"{_DIM}{shown}{_PLAIN}\n" if self._colour else f"{shown}\n")


def _tool_text(what: RoundEvent) -> str:
    match what:
        case ToolStarted(name=name, summary=summary):
            return f"[{name}] {summary or ''}".rstrip()
        case ToolEnded(name=name, result=text, failed=True):
            return f"[{name}] failed: {text.strip().partition(chr(10))[0]}"
        case ToolEnded(name=name, result=text):
            return f"[{name}] {count_text(len(text), 'character')}"
        case _:
            return ""


def _detail_text(what: RoundEvent) -> str:
    match what:
        case FuelStatus(remaining=remaining, total=total):
            return f"[fuel] {remaining} of {total} left"
        case InboxInjected(messages=count):
            return f"[inbox] {count_text(count, 'message')}"
        case RetryScheduled(attempt=attempt, seconds=seconds, why=why):
            return f"[attempt {attempt}] in {seconds:g} s: {why}"
        case UsageReported(model=model, usage=usage):
            return f"[usage] {model}: {_usage_text(usage)}"
        case _:
            return ""


def _fuel_text(total: int, *, empty: bool) -> str:
    """Why the fuel ran out; an empty reply may cost more than one request."""
    if empty:
        return "out of fuel: the model returned only empty answers (each costs `fuel_empty_response_cost`)"
    requests = "one request" if total == 1 else f"{total} requests"
    return f"out of fuel: {requests} in one round (see the setting `fuel`)"


def _usage_text(usage: Usage) -> str:
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    thought = f" ({usage.reasoning:,} reasoning)" if usage.reasoning else ""
    about = "about " if usage.estimated else ""
    return f"{about}{usage.input:,} tokens in{cached}, {about}{usage.output:,} out{thought}"


class RoundView:
    """Shows the events of a round as they come."""

    def __init__(
        self, answer: AnswerWriter, reasoning: AnswerWriter | None, status: StatusLines, waiting: WaitIndicator
    ) -> None:
        self._answer = answer
        self._reasoning = reasoning
        self._status = status
        self._running_tools: set[str] = set()
        self._is_answering = False
        self._pending_usage: list[UsageReported] = []
        self.waiting = waiting

    async def __call__(self, event: Event[RoundEvent]) -> None:
        """Listen to a round."""
        self.show(event.what)

    def show(self, what: RoundEvent) -> None:
        """Show one event."""
        match what:
            case TextDelta(text=text):
                self._end_waiting()
                self._is_answering = True
                self._answer.write(text)
            case ReasoningDelta(text=text):
                self._show_reasoning(text)
            case ReplyEnded():
                self.close()
                self.waiting.begin()
            case EntryStored() | RoundEnd():
                pass
            case UsageReported() if self._is_answering:
                self._pending_usage.append(what)  # it comes before the end of the answer is written
            case _:
                self._update_waiting(what)
                self._status.handle(what)

    def close(self) -> None:
        """End the answer."""
        self._end_waiting()
        self._answer.close()
        self._is_answering = False
        while self._pending_usage:
            self._status.handle(self._pending_usage.pop(0))

    def show_end(self, end: RoundEnd) -> None:
        """Print why the round ended, if the answer does not show it."""
        self.close()
        if end.reason in _END_TEXTS and not (end.reason == "fuel" and self._status.fuel_reported):
            self._status.print_once(_END_TEXTS[end.reason])

    def break_line(self) -> None:
        """Begin a new line after the `^C` that the terminal echoed."""
        self._status.break_line()

    def _end_waiting(self) -> None:
        self.waiting.end()
        if self._reasoning is not None:
            self._reasoning.close()

    def _show_reasoning(self, text: str) -> None:
        if self._reasoning is not None:
            self.waiting.end()
            self._reasoning.write(text)

    def _update_waiting(self, what: RoundEvent) -> None:
        """Show the wait for the model only; while a tool runs, it may ask for approval."""
        self.waiting.clear()
        if self._reasoning is not None:
            self._reasoning.close()
        match what:
            case ToolStarted(id=call):
                self._running_tools.add(call)
                self.waiting.end()
            case ToolEnded(id=call):
                self._running_tools.discard(call)
                if not self._running_tools:
                    self.waiting.begin()
            case RetryScheduled(seconds=seconds, why=why):
                self.waiting.begin(seconds, why)
            case QuestionAsked():
                self.waiting.end()
            case _:
                pass


class RoundViewOptions(NamedTuple):
    """How a round is shown. `markdown` renders in a pipe too; with `asks_here`, this terminal asks for approval."""

    display: DisplaySettings
    colour: bool = False
    markdown: bool = False
    asks_here: bool = False


def make_round_view(out: AnswerStream, err: StatusStream, view: RoundViewOptions) -> RoundView:
    """A view that fits both streams."""
    display, look = view.display, MarkdownLook(view.display.markdown_style, view.colour)
    rendered = view.markdown or (display.render_markdown and out.terminal)
    answer = MarkdownAnswer(out, look) if rendered else PlainAnswer(out)
    reasoning: AnswerWriter | None = None
    if display.show_thinking:
        styled = display.render_markdown and err.terminal
        reasoning = MarkdownAnswer(err, look, reasoning=True) if styled else PlainAnswer(err)
    bright = view.colour and err.terminal
    status = StatusLines(err, display, colour=bright, asks_here=view.asks_here)
    return RoundView(answer, reasoning, status, WaitIndicator(err, shown=bright))
