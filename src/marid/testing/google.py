"""Responses in the protocol of Google's generative language service."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marid.testing.faults import STATUS, Refusal
from marid.testing.request import Request
from marid.testing.response_steps import BodyFrame, sse_event
from marid.testing.script import Script, ScriptedModel, ScriptedUsage, Turn

ERRORS: Mapping[str, tuple[str, str]] = {
    "rate_limit": ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "unauthorized": ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    "context": (
        "INVALID_ARGUMENT",
        "The input token count ({used}) exceeds the maximum number of tokens allowed ({limit}).",
    ),
    "server": ("INTERNAL", "An internal error has occurred."),
    "overloaded": ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    "bad_request": ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    "unknown_model": ("NOT_FOUND", "The model is not found for API version v1beta."),
}
STOPS: Mapping[str, str] = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


def stream(turn: Turn, request: Request, _: Script) -> Iterator[BodyFrame]:
    """The events of a reply; a call is one event, and the last event has the finish reason."""
    for part in _parts(turn, request.number, turn.reasoning, turn.text):
        yield sse_event(_chunk(turn, request, [part]), piece=bool(part.get("text")) or "functionCall" in part)
    yield sse_event(_chunk(turn, request, [], finish=turn.finish_reason))


def full_body(turn: Turn, request: Request, _: Script) -> object:
    """The body of a reply that is not streamed; a list, if a stream was requested without events."""
    thought, text = "".join(turn.reasoning), "".join(turn.text)
    parts = list(_parts(turn, request.number, [thought] if thought else [], [text] if text else []))
    chunk = _chunk(turn, request, parts, finish=turn.finish_reason)
    return [chunk] if request.path.endswith(":streamGenerateContent") else chunk


def error(refusal: Refusal) -> object:
    """The body of a refusal."""
    status, message = ERRORS[refusal.kind]
    body: dict[str, Any] = {
        "code": refusal.status or STATUS[refusal.kind],
        "message": refusal.text(message),
        "status": status,
    }
    if isinstance(refusal.retry_after, int | float):
        info = "type.googleapis.com/google.rpc.RetryInfo"
        body["details"] = [{"@type": info, "retryDelay": f"{refusal.retry_after:g}s"}]
    return {"error": body}


def models(offered: Sequence[ScriptedModel]) -> object:
    """The only page of models."""
    return {"models": [model(one) for one in offered]}


def model(one: ScriptedModel) -> object:
    """An entry of the list of models."""
    return {
        "name": f"models/{one.id}",
        "version": "1",
        "displayName": one.name or one.id,
        "inputTokenLimit": one.context,
        "outputTokenLimit": one.output,
        "supportedGenerationMethods": ["generateContent", "countTokens", "embedContent"],
    }


def _parts(turn: Turn, number: int, reasoning: Sequence[str], text: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The signature of the reasoning is on the first call, or on an empty text if there is none."""
    signature = {"thoughtSignature": turn.signature} if turn.reasoning else {}
    yield from ({"text": piece, "thought": True} for piece in reasoning)
    yield from ({"text": piece} for piece in text)
    for call, name in zip(turn.calls, turn.ids(number), strict=True):
        yield {"functionCall": {"id": name, "name": call.name, "args": call.parsed_arguments}, **signature}
        signature = {}
    if signature:
        yield {"text": "", **signature}


def _chunk(
    turn: Turn, request: Request, parts: Sequence[Mapping[str, object]], *, finish: str | None = None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", **({"parts": parts} if parts else {})}, "index": 0}
    if finish:
        candidate["finishReason"] = STOPS.get(finish, finish)
    usage = {"usageMetadata": _usage(turn.usage)} if turn.usage and finish else {}
    names = {"modelVersion": request.model, "responseId": f"response_{request.number}"}
    return {"candidates": [candidate], **usage, **names}


def _usage(usage: ScriptedUsage) -> object:
    """Here the output does not include the reasoning."""
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.input + usage.output,
    }
