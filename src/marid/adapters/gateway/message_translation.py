"""Our messages in the library's words, and its answers in ours. Imported when a model is asked."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2s
from typing import Any, TypeAlias, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from marid.adapters.gateway.providers import Dialect
from marid.core.model_io import (
    Finished,
    FinishReason,
    Message,
    MessagePart,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from marid.core.model_io import ModelRequest as Request

Seal: TypeAlias = dict[str, Any]

# What can be the id of a call, where a service is strict; others get back what they may have made themselves.
_IDS = {"openai": re.compile(".{1,40}", re.DOTALL), "anthropic": re.compile("[A-Za-z0-9_-]{1,64}")}
_MARKS_FAILURES = frozenset[Dialect]({"anthropic", "google"})

_REASONS: dict[str | None, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filtered",
    "tool_call": "calls",
    "error": "error",
}


def to_library_messages(request: Request, dialect: Dialect = "openai", target: str = "") -> list[ModelMessage]:
    """Everything that was said, with every thought back where its provider wants it: `asked`, as the library calls it.

    What another one thought is nobody's business here, and would pass for words of the answer, or even of the user.
    """
    messages: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            messages.append(_to_response(message, target))
        elif parts := [part for each in message.parts for part in _request_parts(each, dialect, target)]:
            messages.append(ModelRequest(parts=parts, instructions=request.system or None))
    return messages


def _request_parts(part: MessagePart, dialect: Dialect, target: str) -> Iterable[ModelRequestPart]:
    match part:
        case Text():
            return [UserPromptPart(part.text)]
        case ToolResult():
            # Where a dialect has no mark for a failure, the library would wrap the words into JSON.
            outcome = "failed" if part.failed and dialect in _MARKS_FAILURES else "success"
            return [ToolReturnPart(part.name, part.text, _valid_call_id(part.call_id, target), outcome=outcome)]
        case Reasoning() | ToolCall():
            return []


def _valid_call_id(id: str, target: str) -> str:
    """The id of a call as who is asked takes it: another service may have made a longer one, or of other letters."""
    if target not in _IDS or _IDS[target].fullmatch(id):
        return id
    return f"call_{blake2s(id.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


def _to_response(message: Message, target: str) -> ModelResponse:
    seals = [_parse_seal(part.seal) for part in message.parts if not isinstance(part, ToolResult)]
    nothing: Seal = {}
    first = next((seal for seal in seals if seal), nothing)
    parts = [answered for part in message.parts if (answered := _response_part(part, target)) is not None]
    return ModelResponse(parts=parts, provider_name=first.get("provider_name"), canonical_system=first.get("system"))


def _response_part(part: MessagePart, target: str) -> ModelResponsePart | None:
    match part:
        case Text():
            return TextPart(part.text, **_part_fields(part.seal))
        case Reasoning():
            whose = _parse_seal(part.seal).get("provider_name", target)
            return ThinkingPart(part.text, **_thought_fields(part.seal)) if whose == target else None
        case ToolCall():
            return ToolCallPart(part.name, part.arguments, _valid_call_id(part.id, target), **_part_fields(part.seal))
        case ToolResult():
            return None


def _thought_fields(seal: str) -> Seal:
    """A thought of OpenRouter's that is only words goes back as words: as its own, the library would leave it empty."""
    fields = _part_fields(seal)
    if fields.get("provider_name") == "openrouter" and not fields.keys() & {"signature", "provider_details"}:
        del fields["provider_name"]
    return fields


def _part_fields(seal: str) -> Seal:
    return {name: value for name, value in _parse_seal(seal).items() if name != "system"}


def _parse_seal(seal: str) -> Seal:
    """What a seal holds; one that is no JSON object, or not ours, holds nothing."""
    try:
        fields: object = json.loads(seal) if seal else {}
    except (ValueError, RecursionError):
        return {}
    known = cast(Seal, fields) if isinstance(fields, dict) else {}
    return {name: known[name] for name in _SEAL_FIELDS if name in known}


_SEAL_FIELDS = ("id", "signature", "provider_name", "provider_details", "system")


def _make_seal(part: TextPart | ThinkingPart | ToolCallPart, response: ModelResponse) -> str:
    fields = {name: value for name in _SEAL_FIELDS[:-1] if (value := getattr(part, name, None)) is not None}
    if not fields.keys() - {"provider_name"}:
        return ""
    if response.canonical_system:
        fields["system"] = response.canonical_system
    return json.dumps(fields, ensure_ascii=False, default=str)


def reply_of(response: ModelResponse, request: Request) -> Message:
    """The whole answer. A call whose id an earlier one has gets another, so that each result finds its call."""
    parts: list[MessagePart] = []
    taken = {call.id for message in request.messages for call in message.calls}
    for part in response.parts:
        match part:
            case TextPart() if part.content or part.provider_details:
                parts.append(Text(text=part.content, seal=_make_seal(part, response)))
            case ThinkingPart():
                parts.append(Reasoning(text=part.content, seal=_make_seal(part, response)))
            case ToolCallPart():
                name = _unique_id(part.tool_call_id, taken)
                arguments = arguments_text(part.args)
                parts.append(
                    ToolCall(id=name, name=part.tool_name, arguments=arguments, seal=_make_seal(part, response))
                )
            case _:  # what we never ask for: files, speech, tools that run at the provider
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
    """Arguments as text, however they came."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False) if arguments else ""


def finish_of(response: ModelResponse, reply: Message) -> Finished:
    """How the answer ended; one with calls ends by them, whatever the provider calls it."""
    reason = _REASONS.get(response.finish_reason, "stop")
    if (response.provider_details or {}).get("finish_reason") == "error":
        reason = "error"  # a word of others than OpenAI, which the library knows of some only
    if reply.calls and reason == "stop":
        reason = "calls"
    return Finished(reason, reply, response.model_name or "", response.provider_response_id or "")


def is_window_full(response: ModelResponse) -> bool:
    """Whether the answer ended since the window had no room for more of it: a word of Anthropic's."""
    return (response.provider_details or {}).get("finish_reason") == "model_context_window_exceeded"


def refusal_of(response: ModelResponse) -> TextPart | None:
    """The words of a model that will not answer, where they are no part of the answer itself."""
    refusal = (response.provider_details or {}).get("refusal")
    if not isinstance(refusal, str) or not refusal or any(isinstance(part, TextPart) for part in response.parts):
        return None
    return TextPart(refusal)


def usage_of(response: ModelResponse) -> Usage | None:
    """The provider's figures, or None when it gave none that can be."""
    given = response.usage
    figures: Sequence[int] = (
        given.input_tokens,
        given.output_tokens,
        given.cache_read_tokens,
        given.details.get("reasoning_tokens", 0),
    )
    if min(figures) < 0 or not any(figures[:2]):
        return None
    return Usage(*figures)
