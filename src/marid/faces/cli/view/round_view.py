"""A round as a person sees it: the answer on stdout, everything else on stderr."""

from typing import NamedTuple

from marid.core.events import QuestionAsked
from marid.core.round_events import (
    EntryStored,
    ReplyEnded,
    RoundEnd,
    RoundEvent,
    RoundReasoningDelta,
    RoundRetrying,
    RoundTextDelta,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import AnswerStream, AnswerWriter, MarkdownAnswer, PlainAnswer
from marid.faces.cli.view.status_lines import StatusLines, StatusStream, WaitIndicator

_END_TEXTS = {
    "fuel": "the fuel is used up",
    "loop": "stopped: the model makes the same call again and again",
    "empty": "the model says nothing",
    "length": "the answer is cut: the model may not say more at once (`api.max_tokens` sets how much)",
    "filtered": "the answer is cut: the provider's filter does not let it through",
    "nothing": "there is nothing to go on with: the last round came to its end",
}


class RoundView:
    """Hears what happens in a round and shows it at once."""

    def __init__(
        self, answer: AnswerWriter, thoughts: AnswerWriter | None, asides: StatusLines, waiting: WaitIndicator
    ) -> None:
        self._answer = answer
        self._reasoning = thoughts
        self._status = asides
        self._running_tools: set[str] = set()
        self._is_answering = False
        self._pending_usage: list[UsageReported] = []
        self.waiting = waiting

    def __call__(self, what: RoundEvent) -> None:
        """Hear one happening."""
        match what:
            case RoundTextDelta(text=text):
                self._end_waiting()
                self._is_answering = True
                self._answer.write(text)
            case RoundReasoningDelta(text=text):
                self._show_reasoning(text)
            case ReplyEnded():
                self.close()
                self.waiting.begin()
            case EntryStored():
                pass
            case UsageReported() if self._is_answering:
                self._pending_usage.append(what)  # it comes before the last words are out
            case _:
                self._update_waiting(what)
                self._status.handle(what)

    def close(self) -> None:
        """What was being said is over."""
        self._end_waiting()
        self._answer.close()
        self._is_answering = False
        while self._pending_usage:
            self._status.handle(self._pending_usage.pop(0))

    def show_end(self, end: RoundEnd) -> None:
        """Say why, where the answer itself does not."""
        self.close()
        if end.reason in _END_TEXTS and not (end.reason == "fuel" and self._status.fuel_reported):
            self._status.print_once(_END_TEXTS[end.reason])

    def break_line(self) -> None:
        """After Ctrl-C, whose echo stands in the line: the shell's prompt is to stand alone."""
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
        """Waiting is for the model; while a tool is at work, a person may be asked something."""
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
            case RoundRetrying(seconds=seconds, why=why):
                self.waiting.begin(seconds, why)
            case QuestionAsked():
                self.waiting.end()
            case _:
                pass


class RoundViewOptions(NamedTuple):
    """How a round is shown. `markdown` renders it in a pipe as well; with `asks_here` questions come on a terminal."""

    display: DisplaySettings
    colour: bool = False
    markdown: bool = False
    asks_here: bool = False


def make_round_view(out: AnswerStream, err: StatusStream, view: RoundViewOptions) -> RoundView:
    """For where the two streams go."""
    display, style = view.display, view.display.markdown_style
    rendered = view.markdown or (display.render_markdown and out.terminal)
    answer = MarkdownAnswer(out, style, colour=view.colour) if rendered else PlainAnswer(out)
    thoughts: AnswerWriter | None = None
    if display.show_thinking:
        styled = display.render_markdown and err.terminal
        thoughts = MarkdownAnswer(err, style, colour=view.colour, thoughts=True) if styled else PlainAnswer(err)
    bright = view.colour and err.terminal
    asides = StatusLines(err, display, colour=bright, asks_here=view.asks_here)
    return RoundView(answer, thoughts, asides, WaitIndicator(err, shown=bright))
