"""One answer of a model while it comes in."""

from collections.abc import Callable, MutableSet

from marid.core.chat import (
    CallDelta,
    Draft,
    Finished,
    GatewayEvent,
    Message,
    Noted,
    ReasoningDelta,
    Retrying,
    TextDelta,
    Usage,
)
from marid.core.errors import Exhausted
from marid.core.events import Note
from marid.core.rounds import Retrying as Waiting
from marid.core.rounds import RoundHappening, Spent, Thought, Words

MOST_CHARACTERS = 32_000_000
"""Of one answer: no model says so much, and an answer without end would take all memory."""


# Between these are the first halves of the characters that UTF-16, and so JSON's escapes, write in two.
_HIGH, _LOW = "\ud800", "\udc00"


class Hearing:
    """Hands on what the reader may see, and keeps what there is, should the rest never come.

    `noted` are the notes that were told already, by an earlier answer of the round.
    """

    def __init__(
        self, model: str, emit: Callable[[RoundHappening], None], noted: MutableSet[str] | None = None
    ) -> None:
        self._model = model
        self._emit = emit
        self._noted = set[str]() if noted is None else noted
        self._draft = Draft()
        self._begun = False
        self._blanks: list[str] = []
        self._half = ""
        self._heard = 0
        self.finished: Finished | None = None

    async def take(self, event: GatewayEvent) -> None:
        """As Model.stream gives it. Raises: Exhausted when there is no end of it."""
        if type(event) is TextDelta:  # nearly all of them
            self._text(event.text)
            return
        match event:
            case ReasoningDelta():
                self._count(event.text)
                self._draft.add(event)
                self._emit(Thought(event.text))
            case Usage():
                self._emit(Spent(self._model, event))
            case Retrying():
                self._draft = Draft()  # what was thought so far will be thought anew
                self._emit(Waiting(*event))
            case Noted():
                self._note(event.text)
            case Finished():
                self.finished = event
            case CallDelta():
                self._count(event.arguments)
            case _:
                pass  # what announces a call: the whole of it comes with the end

    def partial(self) -> Message:
        """What came so far; unfinished calls are no part of it."""
        return self._draft.message()

    def _count(self, text: str) -> None:
        self._heard += len(text)
        if self._heard > MOST_CHARACTERS:
            raise _endless()

    def _text(self, text: str) -> None:
        # Counted here and not by another call: every streamed word of every answer comes this way.
        self._heard += len(text)
        if self._heard > MOST_CHARACTERS:
            raise _endless()
        if self._half or _HIGH <= text[-1:] < _LOW:
            text = self._paired(text)
        if not self._begun:
            text = self._first(text)
        if text:
            self._draft.say(text)
            self._emit(Words(text))

    def _paired(self, text: str) -> str:
        """The half of a character at the end waits for its other half."""
        text, self._half = self._half + text, ""
        if _HIGH <= text[-1:] < _LOW:
            text, self._half = text[:-1], text[-1]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _first(self, text: str) -> str:
        """Blanks alone are no answer: they wait for a word, and one newline in front of it is left out."""
        self._blanks.append(text)
        if not text.strip():
            return ""
        self._begun = True
        return "".join(self._blanks).removeprefix("\n")

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._emit(Note(text))


def _endless() -> Exhausted:
    return Exhausted(f"the model's answer has no end: it was left after {MOST_CHARACTERS:,} characters")
