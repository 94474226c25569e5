"""Call one tool in a conversation, for a person or a program instead of a model."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from marid.app.app import RequestScope
from marid.app.tool_session import ToolAccess, ToolSession, open_tools
from marid.core.errors import NotFound
from marid.core.events import EventListener, ToolEvent
from marid.core.settings.values import storage_settings
from marid.engine.round_services import conversation_services, home_services
from marid.ports.conversations import ConversationStores
from marid.ports.handoff import Handoff
from marid.ports.model import ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.text.conversation_names import check_conversation_name
from marid.toolkit.inventory import dependencies_of
from marid.toolkit.outcome import Outcome, ToolFailure

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

# Tools that need one of these work on the open conversation, or on the home.
_CONVERSATION_PORTS = frozenset({NoteWriter, ReflectionWriter})
_HOME_PORTS = frozenset({Peers, ModelLookup})
_DEFAULT_ACCESS = ToolAccess()


@dataclass(frozen=True, kw_only=True)
class ToolCallRequest:
    """Which tool to call, in which conversation, and what it may access."""

    tool: str
    conversation: str
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    access: ToolAccess = _DEFAULT_ACCESS


async def call_tool(
    scope: RequestScope,
    request: ToolCallRequest,
    asker: "Asker | None" = None,
    listener: EventListener[ToolEvent] | None = None,
) -> Outcome:
    """Call a tool with the conversation's own settings, policy and roots.

    For a tool that writes to the conversation, the conversation is locked, and created if it does not exist.

    Raises: BadInput for an invalid name or settings; NotFound for missing roots; ConversationLocked; Unavailable.
    """
    name = check_conversation_name(request.conversation)
    caller = scope.caller._replace(conversation=_conversation_id(scope.stores, name))
    scope = scope.within(name)._replace(caller=caller)
    settings, stores, threads = scope.settings, scope.stores, scope.threads
    session = open_tools(scope, request.access, asker, listener)
    try:
        with ExitStack() as stack:
            call_scope, ports = session.call_scope, _tool_ports(session, request.tool)
            if Handoff in ports:
                return ToolFailure(
                    code=NotFound.code, message=f"'{request.tool}' is for models: it ends or prolongs a round"
                )
            if not _HOME_PORTS.isdisjoint(ports):
                own = await threads.run_shielded(partial(stores.conversations.resolve_name, name))
                model = scope.make_model({})
                services = home_services(own, stores.conversations, stores.inbox, model, scope.app.hooks)
                call_scope = call_scope.with_services(services)
            elif not _CONVERSATION_PORTS.isdisjoint(ports):
                held = await threads.run_shielded(
                    partial(stores.conversations.open, name, storage_settings(settings), create=True)
                )
                stack.callback(held.close)
                caller = call_scope.caller._replace(conversation=held.meta().id)
                call_scope = call_scope.with_services(conversation_services(held, settings))
                call_scope = replace(call_scope, caller=caller)
            return await session.make_dispatcher(session.inventory).call(request.tool, request.args, call_scope)
    finally:
        session.close()


def _conversation_id(stores: ConversationStores, name: str) -> str:
    """The id that standing grants of the conversation are stored under."""
    try:
        return stores.conversations.get_meta(name).id
    except NotFound:
        return name


def _tool_ports(session: ToolSession, tool: str) -> frozenset[type]:
    """The ports that a tool uses."""
    try:
        needs = dependencies_of(session.inventory.find(tool))
    except NotFound:
        return frozenset()  # reported by the call itself
    return frozenset((*needs.required.values(), *needs.optional.values()))
