"""Responses in the protocol of Anthropic."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marid.testing import faults
from marid.testing.faults import Refusal
from marid.testing.request import Request
from marid.testing.response_steps import BodyFrame, sse_event
from marid.testing.script import Script, ScriptedCall, ScriptedModel, ScriptedUsage, Turn

STATUS: Mapping[str, int] = {**faults.STATUS, "overloaded": 529}
ERRORS: Mapping[str, tuple[str, str]] = {
    "rate_limit": ("rate_limit_error", "This request would exceed your rate limit"),
    "unauthorized": ("authentication_error", "invalid x-api-key"),
    "context": ("invalid_request_error", "prompt is too long: {used} tokens > {limit} maximum"),
    "server": ("api_error", "Internal server error"),
    "overloaded": ("overloaded_error", "Overloaded"),
    "bad_request": ("invalid_request_error", "Invalid request"),
    "unknown_model": ("not_found_error", "model not found"),
}
STOPS: Mapping[str, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


def stream(turn: Turn, request: Request, script: Script) -> Iterator[BodyFrame]:
    """The events of a reply: the start of the message, start, deltas and stop of each block, the end of the message."""
    del script
    usage = turn.usage or ScriptedUsage(input=0, output=0)
    opening: dict[str, Any] = {**_envelope(request), "content": [], "usage": _usage(usage, output=1)}
    yield _event("message_start", message=opening)
    yield _event("ping")
    for index, block in enumerate(_blocks(turn, request.number)):
        yield from _block(index, *block)
    delta = {"stop_reason": STOPS.get(turn.finish_reason, turn.finish_reason), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=_usage(usage, output=usage.output))
    yield _event("message_stop")


def full_body(turn: Turn, request: Request, script: Script) -> object:
    """The body of a reply that is not streamed."""
    del script
    content: list[object] = []
    if turn.reasoning:
        content.append({"type": "thinking", "thinking": "".join(turn.reasoning), "signature": turn.signature})
    if turn.text:
        content.append({"type": "text", "text": "".join(turn.text), "citations": None})
    for call, name in zip(turn.calls, turn.ids(request.number), strict=True):
        content.append({**_tool(call, name), "input": call.parsed_arguments})
    usage = turn.usage or ScriptedUsage(input=0, output=0)
    reason = STOPS.get(turn.finish_reason, turn.finish_reason)
    output = _usage(usage, output=usage.output)
    return {**_envelope(request), "content": content, "stop_reason": reason, "usage": output}


def error(refusal: Refusal) -> object:
    """The body of a refusal."""
    kind, message = ERRORS[refusal.kind]
    return {"type": "error", "error": {"type": kind, "message": refusal.text(message)}, "request_id": "req_scripted"}


def error_event(refusal: Refusal) -> BodyFrame:
    """A refusal in the middle of a stream."""
    return sse_event(error(refusal), name="error")


def models(offered: Sequence[ScriptedModel]) -> object:
    """The only page of models."""
    ids = [one.id for one in offered]
    ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
    return {"data": [model(one) for one in offered], "has_more": False, **ends}


def model(one: ScriptedModel) -> object:
    """An entry of the list of models."""
    return {
        "type": "model",
        "id": one.id,
        "display_name": one.name or one.id,
        "created_at": "2025-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": one.context,
        "max_tokens": one.output,
    }


_Block = tuple[Mapping[str, object], Sequence[Mapping[str, object]], Mapping[str, object] | None]


def _blocks(turn: Turn, number: int) -> Iterator[_Block]:
    """For each block its start, the deltas with its content, and a last delta, if any."""
    if turn.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in turn.reasoning]
        signed = {"type": "signature_delta", "signature": turn.signature}
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas, signed
    if turn.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in turn.text], None
    for call, name in zip(turn.calls, turn.ids(number), strict=True):
        deltas = [{"type": "input_json_delta", "partial_json": fragment} for fragment in call.fragments()]
        yield {**_tool(call, name), "input": {}}, deltas, None


def _block(
    index: int,
    opening: Mapping[str, object],
    deltas: Sequence[Mapping[str, object]],
    closing: Mapping[str, object] | None,
) -> Iterator[BodyFrame]:
    yield _event("content_block_start", index=index, content_block=opening)
    for delta in deltas:
        yield _event("content_block_delta", piece=True, index=index, delta=delta)
    if closing:
        yield _event("content_block_delta", index=index, delta=closing)
    yield _event("content_block_stop", index=index)


def _event(name: str, *, piece: bool = False, **fields: object) -> BodyFrame:
    return sse_event({"type": name, **fields}, name=name, piece=piece)


def _tool(call: ScriptedCall, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": call.name}


def _envelope(request: Request) -> dict[str, Any]:
    head = {"id": f"msg_{request.number}", "type": "message", "role": "assistant", "model": request.model}
    return {**head, "stop_reason": None, "stop_sequence": None}


def _usage(usage: ScriptedUsage, *, output: int) -> object:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    }
