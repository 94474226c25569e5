"""The library's stream of parts as our events. Imported when a model is asked."""

from pydantic_ai.messages import (
    ModelResponsePart,
    ModelResponsePartDelta,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from marid.adapters.gateway.message_translation import arguments_text
from marid.core.model_io import CallDelta, CallStarted, GatewayEvent, ReasoningDelta, TextDelta

_NOTHING: tuple[GatewayEvent, ...] = ()


class EventTranslator:
    """Remembers which part is which call, as the pieces of several may alternate.

    Without `thoughts`, what the model thinks is told to nobody, whether or not the service keeps it back.
    """

    def __init__(self, *, thoughts: bool = True) -> None:
        self._thoughts = thoughts
        self._numbers: dict[int, int] = {}

    def translate(self, event: ModelResponseStreamEvent) -> tuple[GatewayEvent, ...]:
        """What `event` tells the reader; the ends of parts tell nothing, as more of a part may follow its end."""
        if type(event) is PartDeltaEvent:
            delta = event.delta
            if type(delta) is TextPartDelta:  # nearly all of them
                return (TextDelta(delta.content_delta),) if delta.content_delta else _NOTHING
            return self._translate_delta(event.index, delta)
        if type(event) is PartStartEvent:
            return self._translate_start(event.index, event.part)
        return _NOTHING

    def _translate_delta(self, index: int, delta: ModelResponsePartDelta) -> tuple[GatewayEvent, ...]:
        if type(delta) is ThinkingPartDelta:
            return (ReasoningDelta(delta.content_delta),) if delta.content_delta and self._thoughts else _NOTHING
        if type(delta) is ToolCallPartDelta and delta.args_delta and index in self._numbers:
            return (CallDelta(self._numbers[index], arguments_text(delta.args_delta)),)
        return _NOTHING

    def _translate_start(self, index: int, part: ModelResponsePart) -> tuple[GatewayEvent, ...]:
        if isinstance(part, TextPart):
            return (TextDelta(part.content),) if part.content else _NOTHING
        if isinstance(part, ThinkingPart):
            return (ReasoningDelta(part.content),) if part.content and self._thoughts else _NOTHING
        if isinstance(part, ToolCallPart):
            number = self._numbers.setdefault(index, len(self._numbers))
            started = CallStarted(number, part.tool_name)
            return (started, CallDelta(number, arguments_text(part.args))) if part.args else (started,)
        return _NOTHING
