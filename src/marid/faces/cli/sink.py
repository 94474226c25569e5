"""A round as a person sees it: the answer on stdout, everything else on stderr."""

from typing import NamedTuple

from marid.core.events import Asked
from marid.core.rounds import (
    End,
    ReplyEnded,
    Retrying,
    RoundHappening,
    Spent,
    Stored,
    Thought,
    ToolEnded,
    ToolStarted,
    Words,
)
from marid.core.settings import Display
from marid.faces.cli.sink_answer import Answer, Out, Plain, Rendered
from marid.faces.cli.sink_asides import Asides, Err, Waiting

_ENDS = {
    "fuel": "the fuel is used up",
    "loop": "stopped: the model makes the same call again and again",
    "empty": "the model says nothing",
    "length": "the answer is cut: the model may not say more at once (`api.max_tokens` sets how much)",
    "filtered": "the answer is cut: the provider's filter does not let it through",
    "nothing": "there is nothing to go on with: the last round came to its end",
}


class Sink:
    """Hears what happens in a round and shows it at once."""

    def __init__(self, answer: Answer, thoughts: Answer | None, asides: Asides, waiting: Waiting) -> None:
        self._answer = answer
        self._thoughts = thoughts
        self._asides = asides
        self._at_work: set[str] = set()
        self._speaking = False
        self._later: list[Spent] = []
        self.waiting = waiting

    def __call__(self, what: RoundHappening) -> None:
        """Hear one happening."""
        match what:
            case Words(text=text):
                self._quiet()
                self._speaking = True
                self._answer.words(text)
            case Thought(text=text):
                self._think(text)
            case ReplyEnded():
                self.close()
                self.waiting.begin()
            case Stored():
                pass
            case Spent() if self._speaking:
                self._later.append(what)  # it comes before the last words are out
            case _:
                self._wait(what)
                self._asides.hear(what)

    def close(self) -> None:
        """What was being said is over."""
        self._quiet()
        self._answer.close()
        self._speaking = False
        while self._later:
            self._asides.hear(self._later.pop(0))

    def ended(self, end: End) -> None:
        """Say why, where the answer itself does not."""
        self.close()
        if end.reason in _ENDS and not (end.reason == "fuel" and self._asides.fuel_told):
            self._asides.say(_ENDS[end.reason])

    def break_line(self) -> None:
        """After Ctrl-C, whose echo stands in the line: the shell's prompt is to stand alone."""
        self._asides.break_line()

    def _quiet(self) -> None:
        self.waiting.end()
        if self._thoughts is not None:
            self._thoughts.close()

    def _think(self, text: str) -> None:
        if self._thoughts is not None:
            self.waiting.end()
            self._thoughts.words(text)

    def _wait(self, what: RoundHappening) -> None:
        """Waiting is for the model; while a tool is at work, a person may be asked something."""
        self.waiting.clear()
        if self._thoughts is not None:
            self._thoughts.close()
        match what:
            case ToolStarted(id=call):
                self._at_work.add(call)
                self.waiting.end()
            case ToolEnded(id=call):
                self._at_work.discard(call)
                if not self._at_work:
                    self.waiting.begin()
            case Retrying(seconds=seconds, why=why):
                self.waiting.begin(seconds, why)
            case Asked():
                self.waiting.end()
            case _:
                pass


class View(NamedTuple):
    """How a round is shown. `markdown` renders it in a pipe as well; with `asks_here` questions come on a terminal."""

    display: Display
    colour: bool = False
    markdown: bool = False
    asks_here: bool = False


def make_sink(out: Out, err: Err, view: View) -> Sink:
    """For where the two streams go."""
    display, style = view.display, view.display.markdown_style
    rendered = view.markdown or (display.render_markdown and out.terminal)
    answer = Rendered(out, style, colour=view.colour) if rendered else Plain(out)
    thoughts: Answer | None = None
    if display.show_thinking:
        styled = display.render_markdown and err.terminal
        thoughts = Rendered(err, style, colour=view.colour, thoughts=True) if styled else Plain(err)
    bright = view.colour and err.terminal
    asides = Asides(err, display, colour=bright, asks_here=view.asks_here)
    return Sink(answer, thoughts, asides, Waiting(err, shown=bright))
