"""Responses in the protocol of OpenAI and of compatible services."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marid.testing.faults import Refusal
from marid.testing.request import Request
from marid.testing.response_steps import BodyFrame, sse_event
from marid.testing.script import Script, ScriptedModel, ScriptedUsage, Turn
from marid.text.json_values import as_object

CREATED = 1_700_000_000
# type, code, message
ERRORS: Mapping[str, tuple[str, str | None, str]] = {
    "rate_limit": ("requests", "rate_limit_exceeded", "Rate limit reached for requests"),
    "unauthorized": ("invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
    "context": (
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is {limit} tokens. However, your messages resulted in {used} tokens.",
    ),
    "server": ("server_error", None, "The server had an error while processing your request"),
    "overloaded": ("server_error", "overloaded", "The engine is currently overloaded, please try again later"),
    "bad_request": ("invalid_request_error", None, "Invalid request"),
    "unknown_model": ("invalid_request_error", "model_not_found", "The model does not exist"),
}


def stream(turn: Turn, request: Request, script: Script) -> Iterator[BodyFrame]:
    """The events of a reply; the last one is not JSON."""
    yield _chunk(request, {"role": "assistant", "content": ""})
    for piece in turn.reasoning:
        yield _chunk(request, {script.reasoning_field: piece}, piece=True)
    for piece in turn.text:
        yield _chunk(request, {"content": piece}, piece=True)
    for index, (call, name) in enumerate(zip(turn.calls, turn.ids(request.number), strict=True)):
        opening = {"name": call.name, "arguments": ""}
        first = {"index": index, "id": name, "type": "function", "function": opening}
        yield _chunk(request, {"tool_calls": [first]})
        for fragment in call.fragments():
            delta = {"index": index, "function": {"arguments": fragment}}
            yield _chunk(request, {"tool_calls": [delta]}, piece=True)
    yield _chunk(request, {}, finish=turn.finish_reason)
    wants_usage = as_object(as_object(request.body).get("stream_options")).get("include_usage")
    if turn.usage and wants_usage:
        yield sse_event({**_envelope(request, "chat.completion.chunk"), "choices": [], "usage": _usage(turn.usage)})
    yield BodyFrame(b"data: [DONE]\n\n")


def full_body(turn: Turn, request: Request, script: Script) -> object:
    """The body of a reply that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(turn.text) or None, "refusal": None}
    if turn.reasoning:
        message[script.reasoning_field] = "".join(turn.reasoning)
    if turn.calls:
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call, name in zip(turn.calls, turn.ids(request.number), strict=True)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": turn.finish_reason}
    usage = {"usage": _usage(turn.usage)} if turn.usage else {}
    return {**_envelope(request, "chat.completion"), "choices": [choice], **usage}


def error(refusal: Refusal) -> object:
    """The body of a refusal."""
    kind, code, message = ERRORS[refusal.kind]
    param = "messages" if refusal.kind == "context" else None
    return {"error": {"message": refusal.text(message), "type": kind, "param": param, "code": code}}


def models(offered: Sequence[ScriptedModel]) -> object:
    """The list of models, with the context lengths that OpenRouter adds."""
    return {"object": "list", "data": [model(one) for one in offered]}


def model(one: ScriptedModel) -> object:
    """An entry of the list of models."""
    limits = {"context_length": one.context, "max_completion_tokens": one.output, "is_moderated": False}
    return {
        "id": one.id,
        "object": "model",
        "created": CREATED,
        "owned_by": "marid",
        "name": one.name or one.id,
        "context_length": one.context,
        "top_provider": limits,
    }


def _envelope(request: Request, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": CREATED, "model": request.model}


def _chunk(
    request: Request, delta: Mapping[str, object], *, finish: str | None = None, piece: bool = False
) -> BodyFrame:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return sse_event({**_envelope(request, "chat.completion.chunk"), "choices": [choice]}, piece=piece)


def _usage(usage: ScriptedUsage) -> object:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
