"""Translate messages to the library, and its answers and events back. Imports the gateway library."""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2s
from typing import Any, TypeAlias

from pydantic_ai import messages as library

from marid.adapters.gateway.providers import Dialect
from marid.core.model_io import (
    CallDelta,
    CallStarted,
    Finished,
    FinishReason,
    GatewayEvent,
    Message,
    MessagePart,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from marid.text.json_values import as_object, parse_json

Seal: TypeAlias = dict[str, Any]

# The call ids that a strict service accepts; other services accept any.
_IDS = {"openai": re.compile(".{1,40}", re.DOTALL), "anthropic": re.compile("[A-Za-z0-9_-]{1,64}")}
_MARKS_FAILURES = frozenset[Dialect]({"anthropic", "google"})

_SEAL_FIELDS = ("id", "signature", "provider_name", "provider_details", "system")
# Any other reason is "stop".
_REASONS: dict[str | None, FinishReason] = {
    "length": "length",
    "content_filter": "filtered",
    "tool_call": "calls",
    "error": "error",
}


def to_library_messages(
    request: ModelRequest, dialect: Dialect = "openai", target: str = ""
) -> list[library.ModelMessage]:
    """The whole conversation. `target` is the library's name of the service.

    Reasoning goes back only to the service that wrote it: another would take it for text of the answer or of the user.
    """
    messages: list[library.ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            seals = (_parse_seal(part.seal) for part in message.parts if not isinstance(part, ToolResult))
            first = next(filter(None, seals), Seal())
            parts = [found for part in message.parts if (found := _response_part(part, target)) is not None]
            author, system = first.get("provider_name"), first.get("system")
            messages.append(library.ModelResponse(parts=parts, provider_name=author, canonical_system=system))
        elif parts := [part for each in message.parts for part in _request_parts(each, dialect, target)]:
            messages.append(library.ModelRequest(parts=parts, instructions=request.system or None))
    return messages


def _request_parts(part: MessagePart, dialect: Dialect, target: str) -> Iterable[library.ModelRequestPart]:
    match part:
        case Text():
            return [library.UserPromptPart(part.text)]
        case ToolResult():
            # Where a dialect cannot mark a failure, the library would wrap the text into JSON.
            outcome = "failed" if part.failed and dialect in _MARKS_FAILURES else "success"
            return [library.ToolReturnPart(part.name, part.text, _valid_call_id(part.call_id, target), outcome=outcome)]
        case Reasoning() | ToolCall():
            return []


def _valid_call_id(id: str, target: str) -> str:
    """An id that `target` accepts: another service may have made a longer one, or one with other characters."""
    if target not in _IDS or _IDS[target].fullmatch(id):
        return id
    return f"call_{blake2s(id.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


def _response_part(part: MessagePart, target: str) -> library.ModelResponsePart | None:
    match part:
        case Text():
            return library.TextPart(part.text, **_part_fields(part.seal))
        case Reasoning():
            fields = _part_fields(part.seal)
            if (author := fields.get("provider_name", target)) != target:
                return None
            # Plain reasoning of OpenRouter's goes back without this name: with it the library sends it empty.
            if author == "openrouter" and not fields.keys() & {"signature", "provider_details"}:
                fields.pop("provider_name", None)
            return library.ThinkingPart(part.text, **fields)
        case ToolCall():
            return library.ToolCallPart(
                part.name, part.arguments, _valid_call_id(part.id, target), **_part_fields(part.seal)
            )
        case ToolResult():
            return None


def _part_fields(seal: str) -> Seal:
    return {name: value for name, value in _parse_seal(seal).items() if name != "system"}


def _parse_seal(seal: str) -> Seal:
    """The known fields of a seal; none for one that is damaged or not ours."""
    fields = as_object(parse_json(seal)) if seal else {}
    return {name: fields[name] for name in _SEAL_FIELDS if name in fields}


def _make_seal(
    part: library.TextPart | library.ThinkingPart | library.ToolCallPart, response: library.ModelResponse
) -> str:
    fields = {name: value for name in _SEAL_FIELDS[:-1] if (value := getattr(part, name, None)) is not None}
    if not fields.keys() - {"provider_name"}:
        return ""
    if response.canonical_system:
        fields["system"] = response.canonical_system
    return json.dumps(fields, ensure_ascii=False, default=str)


def reply_of(response: library.ModelResponse, request: ModelRequest) -> Message:
    """The whole answer. A call with the id of an earlier one gets another, so that each result finds its call."""
    parts: list[MessagePart] = []
    sent = (part for message in request.messages for part in message.parts)
    taken = {part.id for part in sent if isinstance(part, ToolCall)}
    for part in response.parts:
        match part:
            case library.TextPart() if part.content or part.provider_details:
                parts.append(Text(text=part.content, seal=_make_seal(part, response)))
            case library.ThinkingPart():
                parts.append(Reasoning(text=part.content, seal=_make_seal(part, response)))
            case library.ToolCallPart():
                id, arguments = _unique_id(part.tool_call_id, taken), arguments_text(part.args)
                parts.append(ToolCall(id=id, name=part.tool_name, arguments=arguments, seal=_make_seal(part, response)))
            case _:  # never requested: files, speech, tools that run at the provider
                pass
    return Message(role="assistant", parts=tuple(parts))


def _unique_id(name: str, taken: set[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free


def arguments_text(arguments: str | Mapping[str, Any] | None) -> str:
    """Arguments as text, whether they came as text or as a table."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False) if arguments else ""


def finish_of(response: library.ModelResponse, reply: Message) -> Finished:
    """How the answer ended; one with calls ends by them, whatever the provider reports."""
    reason = _REASONS.get(response.finish_reason, "stop")
    if (response.provider_details or {}).get("finish_reason") == "error":
        reason = "error"  # not a reason of OpenAI's, so the library does not know it from all services
    if reason == "stop" and any(isinstance(part, ToolCall) for part in reply.parts):
        reason = "calls"
    return Finished(reason, reply, response.model_name or "", response.provider_response_id or "")


def is_window_full(response: library.ModelResponse) -> bool:
    """Whether the answer ended because the context window is full, as Anthropic reports it."""
    return (response.provider_details or {}).get("finish_reason") == "model_context_window_exceeded"


def refusal_of(response: library.ModelResponse) -> library.TextPart | None:
    """The refusal of a model, where it is not part of the answer itself."""
    refusal = (response.provider_details or {}).get("refusal")
    if (
        not isinstance(refusal, str)
        or not refusal
        or any(isinstance(part, library.TextPart) for part in response.parts)
    ):
        return None
    return library.TextPart(refusal)


def usage_of(response: library.ModelResponse) -> Usage | None:
    """The provider's figures, or None when it gave none that make sense."""
    given = response.usage
    reasoning = given.details.get("reasoning_tokens", 0)
    figures = (given.input_tokens, given.output_tokens, given.cache_read_tokens, reasoning)
    if min(figures) < 0 or not any(figures[:2]):
        return None
    return Usage(*figures)


_NOTHING: tuple[GatewayEvent, ...] = ()


class EventTranslator:
    """Translates the library's events of one answer, without reasoning unless `reasoning` is set.

    It remembers which part is which call, since fragments of several calls may alternate.
    """

    def __init__(self, *, reasoning: bool = True) -> None:
        self._reasoning = reasoning
        self._numbers: dict[int, int] = {}

    def translate(self, event: library.ModelResponseStreamEvent) -> tuple[GatewayEvent, ...]:
        """Our events for one of the library. The end of a part has none, as more of the part may follow."""
        if type(event) is library.PartStartEvent:
            return self._translate_start(event.index, event.part)
        if type(event) is not library.PartDeltaEvent:
            return _NOTHING
        delta = event.delta
        if type(delta) is library.TextPartDelta:  # nearly all of them
            return (TextDelta(delta.content_delta),) if delta.content_delta else _NOTHING
        if type(delta) is library.ThinkingPartDelta:
            return (ReasoningDelta(delta.content_delta),) if delta.content_delta and self._reasoning else _NOTHING
        if type(delta) is library.ToolCallPartDelta and delta.args_delta and event.index in self._numbers:
            return (CallDelta(self._numbers[event.index], arguments_text(delta.args_delta)),)
        return _NOTHING

    def _translate_start(self, index: int, part: library.ModelResponsePart) -> tuple[GatewayEvent, ...]:
        if isinstance(part, library.TextPart):
            return (TextDelta(part.content),) if part.content else _NOTHING
        if isinstance(part, library.ThinkingPart):
            return (ReasoningDelta(part.content),) if part.content and self._reasoning else _NOTHING
        if isinstance(part, library.ToolCallPart):
            number = self._numbers.setdefault(index, len(self._numbers))
            started = CallStarted(number, part.tool_name)
            return (started, CallDelta(number, arguments_text(part.args))) if part.args else (started,)
        return _NOTHING
