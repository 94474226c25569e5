"""Show a round: the answer on stdout, everything else on stderr."""

from typing import NamedTuple

from marid.core.events import Event, QuestionAsked
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta
from marid.core.round_events import EntryStored, ReplyEnded, RoundEnd, RoundEvent, ToolEnded, ToolStarted, UsageReported
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import AnswerStream, AnswerWriter, MarkdownAnswer, PlainAnswer
from marid.faces.cli.view.status_lines import StatusLines, StatusStream, WaitIndicator

_END_TEXTS = {
    "fuel": "out of fuel",
    "loop": "stopped: the model keeps making the same tool call",
    "empty": "the model returned an empty answer",
    "length": "answer truncated: it reached the token limit (`api.max_tokens`)",
    "filtered": "answer truncated by the provider's content filter",
    "nothing": "nothing to resume: the last round is complete",
}


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
    display, style = view.display, view.display.markdown_style
    rendered = view.markdown or (display.render_markdown and out.terminal)
    answer = MarkdownAnswer(out, style, colour=view.colour) if rendered else PlainAnswer(out)
    reasoning: AnswerWriter | None = None
    if display.show_thinking:
        styled = display.render_markdown and err.terminal
        reasoning = MarkdownAnswer(err, style, colour=view.colour, reasoning=True) if styled else PlainAnswer(err)
    bright = view.colour and err.terminal
    status = StatusLines(err, display, colour=bright, asks_here=view.asks_here)
    return RoundView(answer, reasoning, status, WaitIndicator(err, shown=bright))
