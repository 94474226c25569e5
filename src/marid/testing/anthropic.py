"""Responses in the protocol of Anthropic."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marid.testing.faults import Refusal
from marid.testing.request import Request
from marid.testing.response_steps import BodyFrame, sse_event
from marid.testing.script import Script, ScriptedCall, ScriptedModel, ScriptedUsage, Turn

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


def stream(turn: Turn, request: Request, _: Script) -> Iterator[BodyFrame]:
    """The events of a reply: the start of the message, start, deltas and stop of each block, the end of the message."""
    usage = turn.usage or ScriptedUsage(input=0, output=0)
    yield _event("message_start", message={**_envelope(request), "content": [], "usage": _usage(usage, output=1)})
    yield _event("ping")
    for index, (opening, deltas) in enumerate(_blocks(turn, request.number)):
        yield _event("content_block_start", index=index, content_block=opening)
        for delta in deltas:
            yield _event("content_block_delta", piece="signature" not in delta, index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    delta = {"stop_reason": STOPS.get(turn.finish_reason, turn.finish_reason), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=_usage(usage, output=usage.output))
    yield _event("message_stop")


def full_body(turn: Turn, request: Request, _: Script) -> object:
    """The body of a reply that is not streamed."""
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


def _blocks(turn: Turn, number: int) -> Iterator[tuple[dict[str, Any], list[dict[str, str]]]]:
    """The start of each block, and the deltas with its content."""
    if turn.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in turn.reasoning]
        signed = {"type": "signature_delta", "signature": turn.signature}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
    if turn.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in turn.text]
    for call, name in zip(turn.calls, turn.ids(number), strict=True):
        deltas = [{"type": "input_json_delta", "partial_json": fragment} for fragment in call.fragments()]
        yield {**_tool(call, name), "input": {}}, deltas


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
