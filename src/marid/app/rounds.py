"""A person or a program says something in a conversation, and hears all that follows."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Thread
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio

from marid.app.app import RequestScope
from marid.app.round_request import RoundRequest
from marid.app.round_setup import RoundSetup, ensure_model, prepare_round
from marid.app.tool_session import ToolSession, open_tools
from marid.core.conversation.records import Conflict, ConversationLocked, ConversationMeta
from marid.core.errors import BadInput, MaridError, NotFound
from marid.core.events import AsyncEmit, EventListener, Notice
from marid.core.ids import new_id
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.storage import storage_settings
from marid.engine.async_conversation import AsyncConversation
from marid.engine.loop import Round, RoundDeps
from marid.engine.prompt_entries import RoundPrompt
from marid.engine.reply_entries import RoundStamp
from marid.engine.round_services import conversation_services
from marid.engine.round_start import last_round_id, start_round
from marid.engine.system_prompt import prompt_parts, system_prompt
from marid.engine.tool_offers import filter_tools, unknown_tool_names
from marid.ports.model import Model, Warmable
from marid.ports.transcript import Conversation
from marid.toolkit.call_scope import CallScope
from marid.toolkit.event_stream import AsyncEventStream
from marid.workspace.instructions import load_home_prompt, load_instructions

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

# How often somebody else's conversation is looked for again, in seconds.
_POLL = 0.1
# How long a round that is over waits for what it made ready and did not need, in seconds.
_WARMUP_JOIN_TIMEOUT = 0.5
_TITLE_WORDS, _MAX_TITLE = 10, 60
SENT_PROMPT_KEY = "last_combined_prompt"
# How the documents name the way by which a conversation came to be; JSON mode is a program's command line.
_SOURCES: Mapping[str, str] = MappingProxyType({"cli": "CLI", "json": "CLI", "mcp": "MCP", "rest": "REST"})


async def run_round(
    scope: RequestScope, request: RoundRequest, listener: EventListener[RoundEvent], asker: "Asker | None" = None
) -> RoundEnd:
    """One round. Its events go to `listener`, which is awaited: a slow one holds back this round and nothing else.

    What the listener raises ends the round like an error of the model, after everything that came is stored.

    Cancelling stores what there is as interrupted and closes the connection to the model.

    Raises:
        BadInput: a blank prompt, a name that is none, settings that make no sense.
        Refused: the conversation is archived, or the provider refuses the key.
        NotFound: the provider does not know the model, or there is nothing to resume.
        Exhausted: the window is full, or a budget is used up.
        Unavailable: somebody else holds the conversation (Held), the model or the disk fails.
    """
    if not request.resume and not request.prompt.strip():
        raise BadInput("there is nothing to say: the prompt is blank")
    threads = scope.app.threads()
    stage = await ensure_model(await threads.run_shielded(partial(prepare_round, scope, request)))
    scope = scope.within(stage.conversation)
    events = AsyncEventStream(new_id(), scope.caller, listener)
    for note in stage.notes:
        await events.emit(Notice(note))
    warming = _start_warmup(stage.model)
    try:
        return await _run_in_conversation(scope, request, stage, events, asker)
    finally:
        if warming is not None:
            with anyio.CancelScope(shield=True):
                await threads.run_shielded(partial(warming.join, _WARMUP_JOIN_TIMEOUT))


async def _run_in_conversation(
    scope: RequestScope,
    request: RoundRequest,
    setup: RoundSetup,
    events: AsyncEventStream[RoundEvent],
    asker: "Asker | None",
) -> RoundEnd:
    threads = scope.app.threads()
    held = await _lock_conversation(scope, setup, request)
    try:
        ledger = AsyncConversation(held, events.emit, threads)
        hands = await ledger.run_in_thread(partial(_open_session, scope, request, held.meta().id))
        events.caller = hands.call_scope.caller
        try:
            return await _RoundRunner(scope, request, setup, ledger, hands).run(events, asker)
        finally:
            hands.close()
    finally:
        with anyio.CancelScope(shield=True):
            await threads.run_shielded(held.close)


def _start_warmup(model: Model) -> Thread | None:
    """Have the gateway library read while everything else is made ready; whoever needs it waits for it there."""
    if not isinstance(model, Warmable):
        return None
    thread = Thread(target=_warm_up, args=(model,), daemon=True, name="marid warm")
    thread.start()
    return thread


def _warm_up(model: Warmable) -> None:
    with suppress(MaridError, ImportError):
        model.warm()


async def _lock_conversation(scope: RequestScope, setup: RoundSetup, request: RoundRequest) -> Conversation:
    """The conversation, ours. It is tried again and again rather than waited for: cancelling ends that at once."""
    until = time.monotonic() + request.lock_timeout
    while True:
        try:
            return await scope.app.threads().run_shielded(partial(_open_or_create, setup, request, scope.caller.face))
        except ConversationLocked:
            if time.monotonic() >= until:
                raise
        await anyio.sleep(_POLL)


def _open_or_create(setup: RoundSetup, request: RoundRequest, face: str) -> Conversation:
    store, storage = setup.stores.conversations, storage_settings(setup.settings)
    try:
        return store.open(setup.conversation, storage)
    except NotFound:
        if request.resume:
            raise
    with suppress(Conflict):  # somebody else was faster
        store.create(setup.conversation, source=_SOURCES.get(face, face.upper()))
    return store.open(setup.conversation, storage)


def _open_session(scope: RequestScope, request: RoundRequest, conversation: str) -> ToolSession:
    """The tools, with the policy and the roots of this conversation's own settings."""
    scope = scope._replace(caller=scope.caller._replace(conversation=conversation))
    return open_tools(scope, replace(request.access, rootless=True))


class _RoundRunner:
    """One round with all that belongs to it."""

    def __init__(
        self,
        scope: RequestScope,
        request: RoundRequest,
        setup: RoundSetup,
        conversation: AsyncConversation,
        session: ToolSession,
    ) -> None:
        self._scope = scope
        self._request = request
        self._setup = setup
        self._conversation = conversation
        self._locked_conversation = conversation.conversation
        self._session = session

    async def run(self, events: AsyncEventStream[RoundEvent], asker: "Asker | None") -> RoundEnd:
        for note in (*self._locked_conversation.problems(), *self._setup_notes()):
            await events.emit(Notice(note))
        means = await self._conversation.run_in_thread(partial(self._make_deps, events.emit, asker))
        saying, stage = self._request, self._setup
        if saying.resume:
            stamp = RoundStamp(stage.conversation, last_round_id(await self._conversation.turns()) or new_id())
        else:
            stamp = RoundStamp(stage.conversation, events.id)
            prompt = RoundPrompt(saying.prompt, stage.settings.conversation.username, automatic=saying.automatic)
            if not await start_round(self._conversation, stage.stores.inbox, stamp, prompt):
                return RoundEnd("nothing", stamp.round)
        playing = Round(means, stamp)
        try:
            return await playing.run()
        finally:
            with anyio.move_on_after(means.store_timeout, shield=True), suppress(MaridError):
                await self._conversation.run_in_thread(partial(self._update_meta, playing.system_prompt))

    def _setup_notes(self) -> list[str]:
        notes: list[str] = []
        if not self._session.call_scope.path_scope.guarded_roots:
            notes.append("the working directory belongs to no project: tools can touch no files; --root DIR names some")
        if names := unknown_tool_names(self._session.inventory, self._setup.settings):
            notes.append(f"the settings `tools` name what is not there: {', '.join(names)}")
        return notes

    def _make_deps(self, emit: AsyncEmit[RoundEvent], asker: "Asker | None") -> RoundDeps:
        stage = self._setup
        inventory = filter_tools(self._session.inventory, stage.settings)
        return RoundDeps(
            conversation=self._conversation,
            inbox=stage.stores.inbox,
            model=stage.model,
            model_name=stage.model_name,
            settings=stage.settings,
            parameters=stage.parameters,
            dispatcher=self._session.make_dispatcher(inventory),
            scope=self._make_scope(emit, asker),
            make_system_prompt=self._prompt_factory(),
            emit=emit,
            fallback_tool=stage.fallback_tool,
        )

    def _make_scope(self, emit: AsyncEmit[RoundEvent], asker: "Asker | None") -> CallScope:
        stage = self._setup
        memory = stage.stores
        own = conversation_services(
            self._locked_conversation, memory.conversations, memory.inbox, stage.model, stage.settings
        )
        return replace(self._session.call_scope.with_services(own), emit=emit, asker=asker)

    def _prompt_factory(self) -> Callable[[tuple[int, int] | None], str]:
        """What people have written down is read once a round, what the model has noted whenever it is asked."""
        scope, settings = self._scope, self._setup.settings
        written = load_instructions(settings.home, scope.app.user_home, scope.project, scope.cwd)
        home = load_home_prompt(settings.home, "chibi")
        return lambda fuel: system_prompt(prompt_parts(self._locked_conversation, settings, written, home, fuel))

    def _update_meta(self, system: str) -> None:
        stage, title = self._setup, "" if self._request.automatic else _make_title(self._request.prompt)

        def fill_meta(meta: ConversationMeta) -> ConversationMeta:
            extra = {**meta.extra, SENT_PROMPT_KEY: system} if system else meta.extra
            model, provider = stage.model_name, stage.model.provider
            return meta._replace(title=meta.title or title, provider=provider, model=model, extra=extra)

        self._locked_conversation.update_meta(fill_meta)


def _make_title(prompt: str) -> str:
    """The first words of a prompt, on one line."""
    line = " ".join(prompt.split()[:_TITLE_WORDS]).encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 3]}..."
