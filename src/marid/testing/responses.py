"""Make the response to a request: the script's step in the request's protocol, or an objection to the request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeAlias

from marid.testing import anthropic, google, openai
from marid.testing.embeddings import embeddings
from marid.testing.faults import STATUS, Refusal, bad_request, unauthorized_error, unknown_model
from marid.testing.request import ProtocolName, Request
from marid.testing.response_steps import BodyFrame, ScriptedResponse, encode_json, sse_event
from marid.testing.script import Script, ScriptedModel, ScriptedReply, Turn
from marid.text.json_values import as_object, as_objects


class ProtocolWriter(Protocol):
    """What the module of a protocol has."""

    def stream(self, turn: Turn, request: Request, script: Script, /) -> Iterable[BodyFrame]: ...
    def full_body(self, turn: Turn, request: Request, script: Script, /) -> object: ...
    def error(self, refusal: Refusal) -> object: ...
    def models(self, offered: Sequence[ScriptedModel]) -> object: ...
    def model(self, one: ScriptedModel) -> object: ...


PROTOCOL_WRITERS: Mapping[ProtocolName, ProtocolWriter] = {"openai": openai, "anthropic": anthropic, "google": google}


def objection(request: Request, script: Script) -> Refusal | None:
    """The refusal of a wrong key or a malformed body, whatever the script has."""
    if script.key is not None and request.key != script.key:
        return unauthorized_error()
    if request.kind in ("chat", "embeddings") and not isinstance(request.body, dict):
        return bad_request("the body is not a JSON object")
    if script.strict and request.kind == "chat" and (flaw := find_flaw(request)):
        return bad_request(flaw)
    return None


def make_response(request: Request, script: Script, step: ScriptedReply | None) -> ScriptedResponse:
    """The response; `step` is what the script has for this request, if anything."""
    if isinstance(step, Refusal):
        return _refusal_response(request, step)
    if request.kind == "unknown":
        return _refusal_response(request, unknown_model(f"nothing is served at {request.method} {request.path}"))
    if request.kind == "chat":
        return _turn_response(request, script, step) if step else _refusal_response(request, _out_of_turns(request))
    if request.kind == "embeddings":
        return _json_response(request, embeddings(request, script.dimensions), step)
    return _models_response(request, script, step)


def _turn_response(request: Request, script: Script, turn: Turn) -> ScriptedResponse:
    writer = PROTOCOL_WRITERS[request.protocol]
    if not request.stream:
        return _json_response(request, writer.full_body(turn, request, script), turn)
    return ScriptedResponse(
        frames=tuple(writer.stream(turn, request, script)),
        kind="text/event-stream",
        stream=True,
        faults=turn.faults,
        error_event=partial(_error_event, request),
    )


def _models_response(request: Request, script: Script, step: Turn | None) -> ScriptedResponse:
    writer = PROTOCOL_WRITERS[request.protocol]
    if not request.model:
        return _json_response(request, writer.models(script.models), step)
    found = next((one for one in script.models if one.id == request.model), None)
    if found is None:
        return _refusal_response(request, unknown_model(f"the script has no model '{request.model}'"))
    return _json_response(request, writer.model(found), step)


def _json_response(request: Request, body: object, step: Turn | None) -> ScriptedResponse:
    return ScriptedResponse(
        frames=(BodyFrame(encode_json(body), piece=True),),
        faults=step.faults if step else (),
        error_event=partial(_error_event, request),
    )


def _error_event(request: Request, refusal: Refusal) -> BodyFrame:
    """A refusal in the middle of a stream, or in place of a body."""
    body = PROTOCOL_WRITERS[request.protocol].error(refusal)
    if not request.stream:
        return BodyFrame(encode_json(body))
    return sse_event(body, name="error" if request.protocol == "anthropic" else "")


def _refusal_response(request: Request, refusal: Refusal) -> ScriptedResponse:
    retry = {} if refusal.retry_after is None else {"Retry-After": f"{refusal.retry_after}"}
    data = refusal.page.encode() or encode_json(PROTOCOL_WRITERS[request.protocol].error(refusal))
    usual = 529 if (request.protocol, refusal.kind) == ("anthropic", "overloaded") else STATUS[refusal.kind]
    return ScriptedResponse(
        frames=(BodyFrame(data, piece=True),),
        kind="text/html; charset=utf-8" if refusal.page else "application/json",
        status=refusal.status or usual,
        headers={**retry, **refusal.headers},
        error_event=partial(_error_event, request),
    )


def _out_of_turns(request: Request) -> Refusal:
    """The header keeps clients from retrying, which they do after a 500."""
    message = f"the script has no more turns (request {request.number}: {request.method} {request.path})"
    return Refusal(kind="server", message=message, headers={"x-should-retry": "false"})


# What a message holds (calls, results or text), and the ids of those calls.
ToolStep: TypeAlias = tuple[str, list[str]]


def find_flaw(request: Request) -> str:
    """What a provider would reject, or ""."""
    waiting: list[str] = []
    for kind, ids in _join_results(STEP_READERS[request.protocol](as_object(request.body))):
        if kind == "results":
            if sorted(ids) != sorted(waiting):
                return f"results for {ids} follow calls {waiting}"
            waiting = []
        elif waiting:
            return f"calls {waiting} are not followed by their results"
        elif kind == "calls":
            waiting = ids
    return f"calls {waiting} have no results" if waiting else ""


def _join_results(steps: Iterator[ToolStep]) -> Iterator[ToolStep]:
    """Join results that come in consecutive messages."""
    for kind, group in groupby(steps, key=lambda step: step[0]):
        if kind == "results":
            yield kind, [id for _, ids in group for id in ids]
        else:
            yield from group


def _tool_step(calls: list[str], results: list[str]) -> ToolStep:
    return ("calls", calls) if calls else ("results", results) if results else ("text", [])


def _openai(body: dict[str, Any]) -> Iterator[ToolStep]:
    for message in as_objects(body.get("messages")):
        calls = [str(call.get("id")) for call in as_objects(message.get("tool_calls"))]
        yield _tool_step(calls, [str(message.get("tool_call_id"))] if message.get("role") == "tool" else [])


def _anthropic(body: dict[str, Any]) -> Iterator[ToolStep]:
    for message in as_objects(body.get("messages")):
        blocks = as_objects(message.get("content"))
        calls = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        yield _tool_step(calls, results)


def _google(body: dict[str, Any]) -> Iterator[ToolStep]:
    """Ids are optional here, so names of tools are compared."""
    for content in as_objects(body.get("contents")):
        parts = as_objects(content.get("parts"))
        calls = [str(as_object(part["functionCall"]).get("name")) for part in parts if "functionCall" in part]
        results = [str(as_object(part["functionResponse"]).get("name")) for part in parts if "functionResponse" in part]
        yield _tool_step(calls, results)


STEP_READERS: Mapping[ProtocolName, Callable[[dict[str, Any]], Iterator[ToolStep]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}
