"""Make the response to a request: the script's step in the request's protocol."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from marid.testing import anthropic, google, openai
from marid.testing.embeddings import embeddings
from marid.testing.faults import Refusal, bad_request, unauthorized_error, unknown_model
from marid.testing.history_check import find_flaw
from marid.testing.request import ProtocolName, Request
from marid.testing.response_steps import BodyFrame, ScriptedResponse, encode_json
from marid.testing.script import Script, ScriptedModel, ScriptedReply, Turn


class ProtocolWriter(Protocol):
    """What the module of a protocol has."""

    @property
    def STATUS(self) -> Mapping[str, int]: ...  # noqa: N802 (a constant of the module)
    def stream(self, turn: Turn, request: Request, script: Script) -> Iterable[BodyFrame]: ...
    def full_body(self, turn: Turn, request: Request, script: Script) -> object: ...
    def error(self, refusal: Refusal) -> object: ...
    def error_event(self, refusal: Refusal) -> BodyFrame: ...
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
        error_event=writer.error_event,
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
        frames=(BodyFrame(data=encode_json(body), piece=True),),
        faults=step.faults if step else (),
        error_event=lambda refusal: BodyFrame(data=encode_json(PROTOCOL_WRITERS[request.protocol].error(refusal))),
    )


def _refusal_response(request: Request, refusal: Refusal) -> ScriptedResponse:
    writer = PROTOCOL_WRITERS[request.protocol]
    retry = {} if refusal.retry_after is None else {"Retry-After": f"{refusal.retry_after}"}
    data = refusal.page.encode() or encode_json(writer.error(refusal))
    return ScriptedResponse(
        frames=(BodyFrame(data=data, piece=True),),
        kind="text/html; charset=utf-8" if refusal.page else "application/json",
        status=refusal.status or writer.STATUS[refusal.kind],
        headers={**retry, **refusal.headers},
        error_event=writer.error_event,
    )


def _out_of_turns(request: Request) -> Refusal:
    """The header keeps clients from retrying, which they do after a 500."""
    message = f"the script has no more turns (request {request.number}: {request.method} {request.path})"
    return Refusal(kind="server", message=message, headers={"x-should-retry": "false"})
