"""The answer to a request: what the script says, in the protocol that was asked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from marid.testing import anthropic, google, openai
from marid.testing.embeddings import embeddings
from marid.testing.faults import Refusal, bad_request, unauthorized, unknown_model
from marid.testing.frames import EVENTS, JSON, PAGE, Answer, Frame, encoded
from marid.testing.history import flaw
from marid.testing.request import ProtocolName, Request
from marid.testing.script import Model, Said, Script, Turn


class Speaker(Protocol):
    """What a module of a protocol offers."""

    @property
    def STATUS(self) -> Mapping[str, int]: ...  # noqa: N802 (a constant of the module)
    def stream(self, turn: Turn, request: Request, script: Script) -> Iterable[Frame]: ...
    def whole(self, turn: Turn, request: Request, script: Script) -> object: ...
    def error(self, refusal: Refusal) -> object: ...
    def error_event(self, refusal: Refusal) -> Frame: ...
    def models(self, offered: Sequence[Model]) -> object: ...
    def model(self, one: Model) -> object: ...


SPEAKERS: Mapping[ProtocolName, Speaker] = {"openai": openai, "anthropic": anthropic, "google": google}


def objection(request: Request, script: Script) -> Refusal | None:
    """What a provider would say to a wrong key or a body that makes no sense, whatever the script has."""
    if script.key is not None and request.key != script.key:
        return unauthorized()
    if request.kind in ("chat", "embeddings") and not isinstance(request.body, dict):
        return bad_request("the body is not a JSON object")
    if script.strict and request.kind == "chat" and (found := flaw(request)):
        return bad_request(found)
    return None


def answer(request: Request, script: Script, said: Said | None) -> Answer:
    """The answer; `said` is what the script has for this request, if anything."""
    if isinstance(said, Refusal):
        return _refused(request, said)
    if request.kind == "unknown":
        return _refused(request, unknown_model(f"nothing is served at {request.method} {request.path}"))
    if request.kind == "chat":
        return _spoken(request, script, said) if said else _refused(request, _no_more(request))
    if request.kind == "embeddings":
        return _single(request, embeddings(request, script.dimensions), said)
    return _listed(request, script, said)


def _spoken(request: Request, script: Script, turn: Turn) -> Answer:
    speaker = SPEAKERS[request.protocol]
    if not request.stream:
        return _single(request, speaker.whole(turn, request, script), turn)
    return Answer(
        frames=tuple(speaker.stream(turn, request, script)),
        kind=EVENTS,
        stream=True,
        faults=turn.faults,
        error_event=speaker.error_event,
    )


def _listed(request: Request, script: Script, said: Turn | None) -> Answer:
    speaker = SPEAKERS[request.protocol]
    if not request.model:
        return _single(request, speaker.models(script.models), said)
    found = next((one for one in script.models if one.id == request.model), None)
    if found is None:
        return _refused(request, unknown_model(f"the script has no model '{request.model}'"))
    return _single(request, speaker.model(found), said)


def _single(request: Request, body: object, said: Turn | None) -> Answer:
    return Answer(
        frames=(Frame(data=encoded(body), piece=True),),
        faults=said.faults if said else (),
        error_event=lambda refusal: Frame(data=encoded(SPEAKERS[request.protocol].error(refusal))),
    )


def _refused(request: Request, refusal: Refusal) -> Answer:
    speaker = SPEAKERS[request.protocol]
    later = {} if refusal.retry_after is None else {"Retry-After": f"{refusal.retry_after}"}
    data = refusal.page.encode() or encoded(speaker.error(refusal))
    return Answer(
        frames=(Frame(data=data, piece=True),),
        kind=PAGE if refusal.page else JSON,
        status=refusal.status or speaker.STATUS[refusal.kind],
        headers={**later, **refusal.headers},
        error_event=speaker.error_event,
    )


def _no_more(request: Request) -> Refusal:
    """Clients that try again after a 500 are told not to: there will be no more then either."""
    message = f"the script has no more turns (request {request.number}: {request.method} {request.path})"
    return Refusal(kind="server", message=message, headers={"x-should-retry": "false"})
