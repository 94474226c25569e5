"""One answer of a model while it comes in."""

from collections.abc import MutableSet

from marid.core.errors import Exhausted
from marid.core.events import AsyncEmit, Notice
from marid.core.model_io import (
    CallDelta,
    Finished,
    GatewayEvent,
    Message,
    Reasoning,
    ReasoningDelta,
    RequestNotice,
    RetryScheduled,
    Text,
    TextDelta,
    Usage,
)
from marid.core.round_events import RoundEvent, UsageReported

MAX_REPLY_CHARACTERS = 32_000_000
"""Of one answer: no model says so much, and an answer without end would take all memory."""


class ReplyDraft:
    """A reply while it streams, to be kept if it breaks off. It has no seals: a complete reply is `Finished.reply`."""

    def __init__(self) -> None:
        self._parts: list[tuple[type[Text] | type[Reasoning], list[str]]] = []

    def add(self, kind: type[Text] | type[Reasoning], text: str) -> None:
        """Add a piece of text or of reasoning."""
        if not self._parts or self._parts[-1][0] is not kind:
            self._parts.append((kind, []))
        self._parts[-1][1].append(text)

    def message(self) -> Message:
        """The reply so far, without unfinished calls."""
        return Message(role="assistant", parts=tuple(kind(text="".join(pieces)) for kind, pieces in self._parts))


# Between these are the first halves of the characters that UTF-16, and so JSON's escapes, write in two.
_HIGH_SURROGATE, _LOW_SURROGATE = "\ud800", "\udc00"


class ReplyStream:
    """Passes on what the reader may see, and keeps what came in case the rest does not.

    `seen_notes` are those that an earlier reply of the round has shown.
    """

    def __init__(self, model: str, emit: AsyncEmit[RoundEvent], seen_notes: MutableSet[str] | None = None) -> None:
        self._model = model
        self._emit = emit
        self._seen_notes = set[str]() if seen_notes is None else seen_notes
        self._draft = ReplyDraft()
        self._has_text = False
        self._blanks: list[str] = []
        self._pending_surrogate = ""
        self._character_count = 0
        self.finished: Finished | None = None

    async def feed(self, event: GatewayEvent) -> None:
        """As Model.stream gives it. Raises: Exhausted when there is no end of it."""
        if type(event) is TextDelta:  # nearly all of them
            if text := self._take_text(event.text):
                await self._emit(event if text is event.text else TextDelta(text))
        else:
            await self._feed_other(event)

    async def _feed_other(self, event: GatewayEvent) -> None:
        match event:
            case ReasoningDelta():
                self._count(event.text)
                self._draft.add(Reasoning, event.text)
                await self._emit(event)
            case Usage():
                await self._emit(UsageReported(self._model, event))
            case RetryScheduled():
                self._draft = ReplyDraft()  # the model reasons again
                await self._emit(event)
            case RequestNotice():
                await self._emit_note(event.text)
            case Finished():
                self.finished = event
            case CallDelta():
                self._count(event.arguments)
            case _:
                pass  # what announces a call: the whole of it comes with the end

    def partial_message(self) -> Message:
        """What came so far; unfinished calls are no part of it."""
        return self._draft.message()

    def _count(self, text: str) -> None:
        self._character_count += len(text)
        if self._character_count > MAX_REPLY_CHARACTERS:
            raise _endless_reply_error()

    def _take_text(self, text: str) -> str:
        """The text that the reader may see now."""
        # Counted here and not by another call: every streamed word of every answer comes this way.
        self._character_count += len(text)
        if self._character_count > MAX_REPLY_CHARACTERS:
            raise _endless_reply_error()
        if self._pending_surrogate or _HIGH_SURROGATE <= text[-1:] < _LOW_SURROGATE:
            text = self._join_surrogates(text)
        if not self._has_text:
            text = self._skip_leading_blanks(text)
        if text:
            self._draft.add(Text, text)
        return text

    def _join_surrogates(self, text: str) -> str:
        """The half of a character at the end waits for its other half."""
        text, self._pending_surrogate = self._pending_surrogate + text, ""
        if _HIGH_SURROGATE <= text[-1:] < _LOW_SURROGATE:
            text, self._pending_surrogate = text[:-1], text[-1]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _skip_leading_blanks(self, text: str) -> str:
        """Blanks alone are no answer: they wait for a word, and one newline in front of it is left out."""
        self._blanks.append(text)
        if not text.strip():
            return ""
        self._has_text = True
        return "".join(self._blanks).removeprefix("\n")

    async def _emit_note(self, text: str) -> None:
        if text not in self._seen_notes:
            self._seen_notes.add(text)
            await self._emit(Notice(text))


def _endless_reply_error() -> Exhausted:
    return Exhausted(f"the model's answer has no end: it was left after {MAX_REPLY_CHARACTERS:,} characters")
