"""One call of a tool in a conversation, by a person or a program and not by a model."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from marid.app.app import App
from marid.app.hands import Hands, open_hands
from marid.app.memory import Memory
from marid.app.reach import Reach
from marid.core.caller import Caller
from marid.core.errors import NotFound
from marid.engine.services import home_services, memory_services
from marid.ports.catalogue import Catalogue
from marid.ports.handoff import Handoff
from marid.ports.notes import Notes, Reflection
from marid.ports.peers import Peers
from marid.text.names import check_name
from marid.toolkit.needs import needs_of
from marid.toolkit.outcome import Failed, Outcome

if TYPE_CHECKING:
    from marid.toolkit.asking import Asker

# Tools that need one of these work on the conversation itself, or on what is around it.
_OF_CONVERSATIONS = frozenset({Notes, Reflection})
_OF_HOMES = frozenset({Peers, Catalogue})
_NO_FLAGS = Reach()


@dataclass(frozen=True, kw_only=True)
class Calling:
    """Which tool is called, in which conversation, and what it may touch."""

    tool: str
    conversation: str
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    reach: Reach = _NO_FLAGS
    face: str = "cli"


async def call_tool(
    app: App, calling: Calling, asker: "Asker | None" = None, note: Callable[[str], None] | None = None
) -> Outcome:
    """What the call comes to, with the conversation's own settings, policy and roots.

    A tool that keeps something in the conversation holds it meanwhile, and makes it if it is not there.

    Raises: BadInput for a name or settings that make no sense; NotFound for roots that are gone; Held; Unavailable.
    """
    name = check_name(calling.conversation)
    settings = app.resolve(name, {}).settings
    memory = app.memory(settings)
    caller = Caller(face=calling.face, conversation=_id(memory, name))
    hands = open_hands(app._replace(settings=settings), calling.reach, caller, asker, note)
    try:
        with ExitStack() as stack:
            scope, ports = hands.scope, _ports(hands, calling.tool)
            if Handoff in ports:
                return Failed(
                    code=NotFound.code, message=f"'{calling.tool}' is for models: it ends or prolongs a round"
                )
            if not _OF_HOMES.isdisjoint(ports):
                own = await anyio.to_thread.run_sync(memory.conversations.name_of, name)
                model = app.model(settings, {})
                scope = scope.with_services(home_services(own, memory.conversations, memory.inbox, model))
            elif not _OF_CONVERSATIONS.isdisjoint(ports):
                held = await anyio.to_thread.run_sync(partial(memory.conversations.open, name, create=True))
                stack.callback(held.close)
                model = app.model(settings, {})
                own = memory_services(held, memory.conversations, memory.inbox, model, settings)
                caller = scope.caller._replace(conversation=held.meta().id)
                scope = replace(scope.with_services(own), caller=caller)
            return await hands.road(hands.inventory).call(calling.tool, calling.args, scope)
    finally:
        hands.close()


def _id(memory: Memory, name: str) -> str:
    """By which what a person has allowed in a conversation is found again."""
    try:
        return memory.conversations.look(name).id
    except NotFound:
        return name


def _ports(hands: Hands, tool: str) -> frozenset[type]:
    """What a tool works with."""
    try:
        needs = needs_of(hands.inventory.find(tool))
    except NotFound:
        return frozenset()  # whoever calls it is told
    return frozenset((*needs.needed.values(), *needs.wanted.values()))
