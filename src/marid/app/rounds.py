"""Run a round: a prompt, and everything that follows until the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from marid.app.app import RequestScope
from marid.app.tool_session import ToolAccess, ToolSession, open_tools
from marid.core.conversation.entry import TO_AGENT, TO_USER
from marid.core.errors import BadInput
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import Settings
from marid.engine.round_entries import RoundPrompt
from marid.engine.round_factory import RoundFactory, RoundSetup
from marid.engine.system_prompt import load_prompts
from marid.toolkit.event_stream import AsyncEventStream

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

_OFFLINE = "offline"
_NO_FLAGS = ToolAccess()
_SPEAKER_TOOLS: Mapping[str, str] = MappingProxyType({"user": TO_USER, "agent": TO_AGENT})
_LOGS = {"request-log": ("request", "requests.jsonl"), "response-meta": ("response", "response_meta.jsonl")}
# How the documents name the way by which a conversation was created; JSON mode is a program's command line.
_SOURCES: Mapping[str, str] = MappingProxyType({"cli": "CLI", "json": "CLI", "mcp": "MCP", "rest": "REST"})


@dataclass(frozen=True, kw_only=True)
class RoundRequest:
    """A prompt, and how to run it.

    `conversation` is a name or an id; one that does not exist is created. `resume` continues the last round without a
    new message. `force` ("user" or "agent") is whose turn it is after an answer without a handoff. `debug` names
    logs of model requests to write. `lock_timeout` is how many seconds to wait for a conversation that is in use. An
    `automatic` prompt comes from the program, not from a person, and does not become a title.
    """

    prompt: str
    conversation: str
    access: ToolAccess = _NO_FLAGS
    resume: bool = False
    force: str = ""
    debug: frozenset[str] = frozenset()
    lock_timeout: float = 0.0
    automatic: bool = False


async def run_round(
    scope: RequestScope, request: RoundRequest, listener: EventListener[RoundEvent], asker: "Asker | None" = None
) -> RoundEnd:
    """Run one round. Its events go to `listener`, which is awaited: a slow one holds back this round and nothing else.

    What the listener raises ends the round like an error of the model, after everything that came is stored.
    A cancelled round stores what came as interrupted and closes the connection to the model.

    Raises:
        BadInput: a blank prompt, a bad name, settings that contradict each other.
        Refused: the conversation is archived, or the provider refuses the key.
        NotFound: the provider does not know the model, or there is nothing to resume.
        Exhausted: the window is full, or a budget is used up.
        Unavailable: the conversation is in use (ConversationLocked), the model or the disk fails.
    """
    if not request.resume and not request.prompt.strip():
        raise BadInput("the prompt is blank")
    factory, events = RoundFactory(stores=scope.stores, threads=scope.threads), AsyncEventStream(scope.caller, listener)
    return await factory.run(request.conversation, partial(prepare_round, scope, request), events, asker)


def prepare_round(scope: RequestScope, request: RoundRequest, name: str) -> RoundSetup:
    """The parts of a round in the conversation `name`. Reads settings, so it blocks; creates nothing.

    Raises: BadInput; Unavailable.
    """
    scope = scope.within(name)
    settings, _, notes = scope.resolve()
    files = scope.stores.files
    logs = {kind: files.log_file(name, file) for word, (kind, file) in _LOGS.items() if word in request.debug}
    model = scope.make_model(logs)
    prompt = RoundPrompt(request.prompt, settings.conversation.username, automatic=request.automatic)
    return RoundSetup(
        conversation=name,
        prompt=None if request.resume else prompt,
        settings=settings,
        model=model,
        model_name=_OFFLINE if model.provider == _OFFLINE else settings.model.name,
        fallback_tool=_fallback_tool(settings, request.force),
        open_tools=partial(_open_session, scope, request),
        load_prompts=partial(load_prompts, scope.home, scope.app.user_home, scope.project, scope.cwd),
        source=_SOURCES.get(scope.caller.face, scope.caller.face.upper()),
        lock_timeout=request.lock_timeout,
        notes=notes,
    )


def _open_session(scope: RequestScope, request: RoundRequest, conversation_id: str) -> ToolSession:
    """The tools, with the policy and the roots of the conversation's own settings."""
    scope = scope._replace(caller=scope.caller._replace(conversation=conversation_id))
    return open_tools(scope, replace(request.access, rootless=True))


def _fallback_tool(settings: Settings, force: str) -> str:
    if force and force not in _SPEAKER_TOOLS:
        raise BadInput(f"the turn can be forced to 'user' or 'agent', not to '{force}'")
    return _SPEAKER_TOOLS.get(force, settings.conversation.fallback_tool)
