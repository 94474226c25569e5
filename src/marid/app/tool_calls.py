"""One call of a tool in a conversation, by a person or a program and not by a model."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from marid.app.app import App
from marid.app.conversation_stores import ConversationStores
from marid.app.tool_access import ToolAccess
from marid.app.tool_session import ToolSession, open_tools
from marid.core.caller import Caller
from marid.core.errors import NotFound
from marid.core.events import EventListener, ToolEvent
from marid.core.settings.storage import storage_settings
from marid.engine.round_services import conversation_services, home_services
from marid.ports.handoff import Handoff
from marid.ports.model_lookup import ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.text.conversation_names import check_conversation_name
from marid.toolkit.dependencies import dependencies_of
from marid.toolkit.outcome import Outcome, ToolFailure

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

# Tools that need one of these work on the conversation itself, or on what is around it.
_CONVERSATION_PORTS = frozenset({NoteWriter, ReflectionWriter})
_HOME_PORTS = frozenset({Peers, ModelLookup})
_DEFAULT_ACCESS = ToolAccess()


@dataclass(frozen=True, kw_only=True)
class ToolCallRequest:
    """Which tool is called, in which conversation, and what it may touch."""

    tool: str
    conversation: str
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    access: ToolAccess = _DEFAULT_ACCESS
    face: str = "cli"


async def call_tool(
    app: App,
    request: ToolCallRequest,
    asker: "Asker | None" = None,
    listener: EventListener[ToolEvent] | None = None,
) -> Outcome:
    """What the call comes to, with the conversation's own settings, policy and roots.

    A tool that keeps something in the conversation holds it meanwhile, and makes it if it is not there.

    Raises: BadInput for a name or settings that make no sense; NotFound for roots that are gone; Held; Unavailable.
    """
    name = check_conversation_name(request.conversation)
    settings = app.resolve(name, {}).settings
    memory = app.stores(settings)
    caller = Caller(face=request.face, conversation=_conversation_id(memory, name))
    hands = open_tools(app._replace(settings=settings), request.access, caller, asker, listener)
    try:
        with ExitStack() as stack:
            scope, ports = hands.scope, _tool_ports(hands, request.tool)
            if Handoff in ports:
                return ToolFailure(
                    code=NotFound.code, message=f"'{request.tool}' is for models: it ends or prolongs a round"
                )
            if not _HOME_PORTS.isdisjoint(ports):
                own = await anyio.to_thread.run_sync(memory.conversations.resolve_name, name)
                model = app.model(settings, {})
                scope = scope.with_services(home_services(own, memory.conversations, memory.inbox, model))
            elif not _CONVERSATION_PORTS.isdisjoint(ports):
                held = await anyio.to_thread.run_sync(
                    partial(memory.conversations.open, name, storage_settings(settings), create=True)
                )
                stack.callback(held.close)
                model = app.model(settings, {})
                own = conversation_services(held, memory.conversations, memory.inbox, model, settings)
                caller = scope.caller._replace(conversation=held.meta().id)
                scope = replace(scope.with_services(own), caller=caller)
            return await hands.make_dispatcher(hands.inventory).call(request.tool, request.args, scope)
    finally:
        hands.close()


def _conversation_id(memory: ConversationStores, name: str) -> str:
    """By which what a person has allowed in a conversation is found again."""
    try:
        return memory.conversations.get_meta(name).id
    except NotFound:
        return name


def _tool_ports(hands: ToolSession, tool: str) -> frozenset[type]:
    """What a tool works with."""
    try:
        needs = dependencies_of(hands.inventory.find(tool))
    except NotFound:
        return frozenset()  # whoever calls it is told
    return frozenset((*needs.required.values(), *needs.optional.values()))
