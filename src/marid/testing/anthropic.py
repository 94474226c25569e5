"""Messages as Anthropic sends them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marid.testing.faults import Refusal
from marid.testing.request import Request
from marid.testing.response_body import BodyFrame, sse_event
from marid.testing.script import Script, ScriptedCall, ScriptedModel, ScriptedUsage, Turn

STATUS: Mapping[str, int] = {
    "rate_limit": 429,
    "unauthorized": 401,
    "context": 400,
    "server": 500,
    "overloaded": 529,
    "bad_request": 400,
    "unknown_model": 404,
}
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
    """The events of a reply: a message that opens, blocks that open, grow and close, and the message's end."""
    del script
    usage = turn.usage or ScriptedUsage(input=0, output=0)
    opening: dict[str, Any] = {**_envelope(request), "content": [], "usage": _usage(usage, output=1)}
    yield sse_event({"type": "message_start", "message": opening}, name="message_start")
    yield sse_event({"type": "ping"}, name="ping")
    for index, block in enumerate(_blocks(turn, request.number)):
        yield from _block(index, *block)
    delta = {"stop_reason": STOPS.get(turn.finish_reason, turn.finish_reason), "stop_sequence": None}
    yield sse_event(
        {"type": "message_delta", "delta": delta, "usage": _usage(usage, output=usage.output)}, name="message_delta"
    )
    yield sse_event({"type": "message_stop"}, name="message_stop")


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
    ending = STOPS.get(turn.finish_reason, turn.finish_reason)
    return {
        **_envelope(request),
        "content": content,
        "stop_reason": ending,
        "usage": _usage(usage, output=usage.output),
    }


def error(refusal: Refusal) -> object:
    """The body of a refusal."""
    kind, message = ERRORS[refusal.kind]
    text = refusal.message or message.format(limit=refusal.limit, used=refusal.used)
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_scripted"}


def error_event(refusal: Refusal) -> BodyFrame:
    """A refusal in mid-stream."""
    return sse_event(error(refusal), name="error")


def models(offered: Sequence[ScriptedModel]) -> object:
    """One page of models, which is all."""
    ids = [one.id for one in offered]
    ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
    return {"data": [model(one) for one in offered], "has_more": False, **ends}


def model(one: ScriptedModel) -> object:
    """An entry of that page."""
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
    """For each block how it opens, the deltas that carry its content, and one that closes it, if any."""
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
    yield sse_event(
        {"type": "content_block_start", "index": index, "content_block": opening}, name="content_block_start"
    )
    for delta in deltas:
        yield sse_event(_delta(index, delta), name="content_block_delta", piece=True)
    if closing:
        yield sse_event(_delta(index, closing), name="content_block_delta")
    yield sse_event({"type": "content_block_stop", "index": index}, name="content_block_stop")


def _delta(index: int, delta: Mapping[str, object]) -> object:
    return {"type": "content_block_delta", "index": index, "delta": delta}


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
