"""The answer to a request: what the script says, in the protocol that was asked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from marid.testing import anthropic, google, openai
from marid.testing.embeddings import embeddings
from marid.testing.faults import Refusal, bad_request, unauthorized_error, unknown_model
from marid.testing.history_check import find_flaw
from marid.testing.request import ProtocolName, Request
from marid.testing.response_body import EVENTS, JSON, PAGE, BodyFrame, ScriptedResponse, encode_json
from marid.testing.script import Script, ScriptedModel, ScriptedReply, Turn


class ProtocolWriter(Protocol):
    """What a module of a protocol offers."""

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
    """What a provider would say to a wrong key or a body that makes no sense, whatever the script has."""
    if script.key is not None and request.key != script.key:
        return unauthorized_error()
    if request.kind in ("chat", "embeddings") and not isinstance(request.body, dict):
        return bad_request("the body is not a JSON object")
    if script.strict and request.kind == "chat" and (found := find_flaw(request)):
        return bad_request(found)
    return None


def make_response(request: Request, script: Script, said: ScriptedReply | None) -> ScriptedResponse:
    """The answer; `said` is what the script has for this request, if anything."""
    if isinstance(said, Refusal):
        return _refusal_response(request, said)
    if request.kind == "unknown":
        return _refusal_response(request, unknown_model(f"nothing is served at {request.method} {request.path}"))
    if request.kind == "chat":
        return _turn_response(request, script, said) if said else _refusal_response(request, _out_of_turns(request))
    if request.kind == "embeddings":
        return _json_response(request, embeddings(request, script.dimensions), said)
    return _models_response(request, script, said)


def _turn_response(request: Request, script: Script, turn: Turn) -> ScriptedResponse:
    speaker = PROTOCOL_WRITERS[request.protocol]
    if not request.stream:
        return _json_response(request, speaker.full_body(turn, request, script), turn)
    return ScriptedResponse(
        frames=tuple(speaker.stream(turn, request, script)),
        kind=EVENTS,
        stream=True,
        faults=turn.faults,
        error_event=speaker.error_event,
    )


def _models_response(request: Request, script: Script, said: Turn | None) -> ScriptedResponse:
    speaker = PROTOCOL_WRITERS[request.protocol]
    if not request.model:
        return _json_response(request, speaker.models(script.models), said)
    found = next((one for one in script.models if one.id == request.model), None)
    if found is None:
        return _refusal_response(request, unknown_model(f"the script has no model '{request.model}'"))
    return _json_response(request, speaker.model(found), said)


def _json_response(request: Request, body: object, said: Turn | None) -> ScriptedResponse:
    return ScriptedResponse(
        frames=(BodyFrame(data=encode_json(body), piece=True),),
        faults=said.faults if said else (),
        error_event=lambda refusal: BodyFrame(data=encode_json(PROTOCOL_WRITERS[request.protocol].error(refusal))),
    )


def _refusal_response(request: Request, refusal: Refusal) -> ScriptedResponse:
    speaker = PROTOCOL_WRITERS[request.protocol]
    later = {} if refusal.retry_after is None else {"Retry-After": f"{refusal.retry_after}"}
    data = refusal.page.encode() or encode_json(speaker.error(refusal))
    return ScriptedResponse(
        frames=(BodyFrame(data=data, piece=True),),
        kind=PAGE if refusal.page else JSON,
        status=refusal.status or speaker.STATUS[refusal.kind],
        headers={**later, **refusal.headers},
        error_event=speaker.error_event,
    )


def _out_of_turns(request: Request) -> Refusal:
    """Clients that try again after a 500 are told not to: there will be no more then either."""
    message = f"the script has no more turns (request {request.number}: {request.method} {request.path})"
    return Refusal(kind="server", message=message, headers={"x-should-retry": "false"})
