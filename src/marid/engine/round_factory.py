"""Puts a round together and runs it: locks the conversation, opens the tools, makes the system prompt."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, NamedTuple, Protocol

import anyio

from marid.core.conversation.entry import new_id
from marid.core.conversation.records import Conflict, ConversationLocked
from marid.core.errors import BadInput, MaridError, NotFound
from marid.core.events import Notice
from marid.core.hooks import Hooks
from marid.core.model_io import ModelInfo
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import Settings, storage_settings
from marid.engine.async_conversation import AsyncConversation
from marid.engine.loop import Round, RoundDeps, clear_inbox, collect_inbox
from marid.engine.round_entries import RoundPrompt, RoundStamp, interrupted_entry, prompt_entry
from marid.engine.round_hooks import RoundHooks
from marid.engine.round_services import conversation_services, home_services
from marid.engine.steps import RunTools, next_step
from marid.engine.system_prompt import PROMPT_NOTES, PromptTexts, prompt_parts, system_prompt
from marid.engine.turns import Turn, UserTurn
from marid.ports.conversations import ConversationStores, Inbox
from marid.ports.model import Model
from marid.ports.transcript import Conversation
from marid.toolkit.call_scope import CallScope
from marid.toolkit.event_stream import AsyncEventStream
from marid.toolkit.inventory import Inventory
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.toolkit.tool_offers import filter_tools, tool_offers, unknown_tool_names

if TYPE_CHECKING:
    from marid.toolkit.dispatch import Dispatcher
    from marid.toolkit.questions import Asker

_NON_CHAT_TYPES = ("embedding", "embeddings")
_NON_CHAT_NAME = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)


class RoundSetup(NamedTuple):
    """The parts of one round. `conversation` is its name; without a `prompt` the last round is continued.

    `model_name` is "" if the settings leave it to the provider. `open_tools` takes the conversation's id; it and
    `load_prompts` block. `source` is stored with a conversation that the round creates. `lock_timeout` is how many
    seconds to wait for a conversation that is in use. `notes` are for the user.
    """

    conversation: str
    prompt: RoundPrompt | None
    settings: Settings
    model: Model
    model_name: str
    fallback_tool: str
    open_tools: "Callable[[str], RoundTools]"
    load_prompts: Callable[[], PromptTexts]
    source: str = ""
    lock_timeout: float = 0.0
    notes: tuple[str, ...] = ()


async def ensure_model(setup: RoundSetup) -> RoundSetup:
    """Choose the first model that the provider offers if the settings name none: most local services have only one.

    Models that embed, rerank or transcribe are skipped, unless there are no others.

    Raises: BadInput when it offers none; Refused; Unavailable.
    """
    if setup.model_name:
        return setup
    offered = await setup.model.models()
    if not offered:
        raise BadInput(f"no model is set, and '{setup.model.provider}' offers none: set `model`")
    name = next(filter(_is_chat_model, offered), offered[0]).id
    kind = "" if name == offered[0].id else " for conversations"
    note = f"no model is set: '{name}' is the first{kind} that '{setup.model.provider}' offers"
    return setup._replace(model_name=name, notes=(*setup.notes, note))


def _is_chat_model(info: ModelInfo) -> bool:
    return str(info.more.get("type", "")).lower() not in _NON_CHAT_TYPES and not _NON_CHAT_NAME.search(info.id)


# How often a conversation that is in use is tried again, in seconds.
_POLL = 0.1
_TITLE_WORDS, _MAX_TITLE = 10, 60
SENT_PROMPT_KEY = "last_combined_prompt"


class RoundTools(Protocol):
    """The tools of one round, with its caller, policy and roots."""

    @property
    def inventory(self) -> Inventory:
        """All tools, before the settings filter them."""
        ...

    @property
    def call_scope(self) -> CallScope:
        """What every call of the round gets."""
        ...

    def make_dispatcher(self, inventory: Inventory) -> "Dispatcher":
        """What calls the tools of `inventory`. Blocks."""
        ...

    def close(self) -> None:
        """Close the roots."""
        ...


@dataclass(frozen=True, kw_only=True)
class RoundFactory:
    """Starts rounds. A sub-agent is a round of the same factory whose `open_tools` gives a narrower scope."""

    stores: ConversationStores
    threads: DaemonThreadPool

    async def run(
        self,
        key: str,
        prepare: Callable[[str], RoundSetup],
        events: AsyncEventStream[RoundEvent],
        asker: "Asker | None" = None,
    ) -> RoundEnd:
        """Run a round in the conversation of the name or id `key`. `prepare` takes its name and may block.

        A cancelled round stores what came as interrupted and closes the connection to the model.

        Raises: MaridError, as `prepare`, Conversations.open, Model.stream and Round.run do.
        """
        name = await self.threads.run_shielded(partial(self.stores.conversations.resolve_name, key))
        setup = await ensure_model(await self.threads.run_shielded(partial(prepare, name)))
        for note in setup.notes:
            await events.emit(Notice(note))
        locked = await self._lock_conversation(setup)
        try:
            conversation = AsyncConversation(locked, events.emit, self.threads)
            return await self._run_locked(setup, conversation, events, asker)
        finally:
            with anyio.CancelScope(shield=True):
                await self.threads.run_shielded(locked.close)

    async def _run_locked(
        self,
        setup: RoundSetup,
        conversation: AsyncConversation,
        events: AsyncEventStream[RoundEvent],
        asker: "Asker | None",
    ) -> RoundEnd:
        locked = conversation.conversation
        tools = await conversation.run_in_thread(partial(setup.open_tools, locked.meta().id))
        events.caller = tools.call_scope.caller
        try:
            for note in (*locked.problems(), *_setup_notes(tools, setup)):
                await events.emit(Notice(note))
            call_scope = replace(tools.call_scope, emit=events.emit, asker=asker)
            deps = await self._make_deps(setup, conversation, tools, call_scope)
            stamp = await self._start(setup, conversation, events.id, tools.call_scope.hooks)
            if stamp is None:
                return RoundEnd("nothing", events.id)
            round = Round(deps, stamp)
            try:
                return await round.run()
            finally:
                with anyio.move_on_after(deps.store_timeout, shield=True), suppress(MaridError):
                    await conversation.run_in_thread(partial(_update_meta, locked, setup, round.system_prompt))
        finally:
            with anyio.CancelScope(shield=True):
                await conversation.run_in_thread(tools.close)

    async def _lock_conversation(self, setup: RoundSetup) -> Conversation:
        """Open the conversation. One in use is tried again and again, not waited for: a cancel ends that at once."""
        until = time.monotonic() + setup.lock_timeout
        while True:
            try:
                return await self._open_or_create(setup)
            except ConversationLocked:
                if time.monotonic() >= until:
                    raise
            await anyio.sleep(_POLL)

    async def _open_or_create(self, setup: RoundSetup) -> Conversation:
        conversations = self.stores.conversations
        open = partial(conversations.open, setup.conversation, storage_settings(setup.settings))
        try:
            return await self.threads.run_shielded(open)
        except NotFound:
            if setup.prompt is None:
                raise
        with suppress(Conflict):  # another process was faster
            await self.threads.run_shielded(partial(conversations.create, setup.conversation, source=setup.source))
        return await self.threads.run_shielded(open)

    async def _start(
        self, setup: RoundSetup, conversation: AsyncConversation, id: str, hooks: Hooks | None
    ) -> RoundStamp | None:
        """Store the prompt, if there is one; None if there is nothing to say."""
        if setup.prompt is None:
            return RoundStamp(setup.conversation, last_round_id(await conversation.turns()) or new_id())
        stamp = RoundStamp(setup.conversation, id)
        return stamp if await start_round(conversation, self.stores.inbox, stamp, setup.prompt, hooks) else None

    async def _make_deps(
        self, setup: RoundSetup, conversation: AsyncConversation, tools: RoundTools, call_scope: CallScope
    ) -> RoundDeps:
        locked, texts = conversation.conversation, await conversation.run_in_thread(setup.load_prompts)
        offered = filter_tools(tools.inventory, setup.settings)
        services = home_services(
            setup.conversation, self.stores.conversations, self.stores.inbox, setup.model, call_scope.hooks
        )
        scope = call_scope.with_services({**services, **conversation_services(locked, setup.settings)})

        def make_system_prompt(fuel: tuple[int, int] | None) -> str:
            """The texts are read once a round, the model's notes whenever a prompt is made."""
            notes = {name: locked.read_note(name) for name in PROMPT_NOTES}
            return system_prompt(prompt_parts(setup.conversation, notes, setup.settings, texts, fuel))

        return RoundDeps(
            conversation=conversation,
            inbox=self.stores.inbox,
            model=setup.model,
            model_name=setup.model_name,
            settings=setup.settings,
            dispatcher=await conversation.run_in_thread(partial(tools.make_dispatcher, offered)),
            scope=scope,
            tools=await conversation.run_in_thread(partial(tool_offers, offered, scope, setup.fallback_tool)),
            make_system_prompt=make_system_prompt,
            fallback_tool=setup.fallback_tool,
        )


async def start_round(
    conversation: AsyncConversation, inbox: Inbox, stamp: RoundStamp, prompt: RoundPrompt, hooks: Hooks | None = None
) -> bool:
    """Store the prompt. Messages leave the inbox only after that; a crash in between does not repeat them.

    False when nothing was stored: the prompt is about messages, and the history holds all that there are.

    Raises: Unavailable; Refused when the conversation is archived.
    """
    turns = await conversation.turns()
    step = next_step(turns)
    closed = [interrupted_entry(call, stamp) for call in step.calls] if isinstance(step, RunTools) else []
    post = await collect_inbox(conversation, inbox, stamp, turns)
    if post.problem:
        await conversation.emit(Notice(post.problem))
    worth = bool(post.unread) or not prompt.automatic
    if worth:
        prompt = prompt._replace(text=await RoundHooks(conversation, stamp, hooks).change_prompt(prompt.text))
        await conversation.append([*closed, prompt_entry(prompt, post.unread, stamp, time.time())])
    await clear_inbox(conversation, inbox, stamp, post)
    return worth


def last_round_id(turns: Sequence[Turn]) -> str:
    """The round of the last turn; "" in a history that another program wrote."""
    last = turns[-1] if turns else None
    if last is None:
        return ""
    entries = [last.entry] if isinstance(last, UserTurn) else [*last.text_entries, *(call.entry for call in last.calls)]
    return entries[-1].round


def _setup_notes(tools: RoundTools, setup: RoundSetup) -> list[str]:
    notes: list[str] = []
    if not tools.call_scope.path_scope.guarded_roots:
        notes.append("not inside a project: tools cannot use any files; name folders with --root DIR")
    if names := unknown_tool_names(tools.inventory, setup.settings):
        notes.append(f"the setting `tools` names unknown tools or categories: {', '.join(names)}")
    return notes


def _update_meta(conversation: Conversation, setup: RoundSetup, system: str) -> None:
    meta = conversation.meta()  # only the holder of the lease changes it
    title = "" if setup.prompt is None or setup.prompt.automatic else _make_title(setup.prompt.text)
    changes = {"title": meta.title or title, "provider": setup.model.provider, "model": setup.model_name}
    extra = {**meta.extra, SENT_PROMPT_KEY: system} if system else meta.extra
    conversation.update_meta(methodcaller("_replace", **changes, extra=extra))


def _make_title(prompt: str) -> str:
    """The first words of a prompt, on one line."""
    line = " ".join(prompt.split()[:_TITLE_WORDS]).encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 3]}..."
