"""The agent loop: look at the history, do the next step, store it, and repeat until it is the user's turn."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import anyio

from marid.core.conversation.entry import FAILED, INTERRUPTED, MESSAGE, STOPPED, TO_AGENT, Entry
from marid.core.conversation.records import InboxMessage
from marid.core.errors import MaridError, Unavailable
from marid.core.hooks import LoopChange
from marid.core.model_io import Finished, ModelRequest, TextDelta, ToolOffer
from marid.core.round_events import (
    AFTER_CONTINUATION,
    EndReason,
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    ReplyEnded,
    RoundEnd,
)
from marid.core.settings.values import Settings
from marid.engine.async_conversation import AsyncConversation
from marid.engine.batch import STORE_TIMEOUT, BatchContext, CallBatch
from marid.engine.model_requests import PROMPT_KEY, RequestBuilder, WindowLimits
from marid.engine.reply_stream import ReplyStream
from marid.engine.round_entries import RoundStamp, continuation_entry, interrupted_entry, reply_entries, unread_messages
from marid.engine.round_hooks import RoundHooks
from marid.engine.steps import AskModel, HandoffDecision, RunTools, Stop, find_handoff, next_step
from marid.engine.turns import Reply, Turn, UserTurn
from marid.ports.conversations import Inbox
from marid.ports.model import Model
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dispatch import Dispatcher

# Seconds to wait for a provider's list of models, which has the window.
_WINDOW_LOOKUP_TIMEOUT = 3.0
# Characters of a continuation's prompt that its event shows.
_FUEL_PREVIEW = 80
MAX_EMPTY_REPLIES = 3
"""Empty replies in a row that end a round which fuel does not end."""


class InboxArrivals(NamedTuple):
    """What waits in an inbox, what of it the history does not hold yet, and what is wrong with the inbox."""

    waiting: tuple[InboxMessage, ...]
    unread: tuple[InboxMessage, ...]
    problem: str


class FuelBudget:
    """`total` 0 means no limit."""

    def __init__(self, total: int) -> None:
        self._total = max(0, total)
        self._remaining = self._total

    @property
    def is_limited(self) -> bool:
        """Whether fuel can run out."""
        return self._total > 0

    @property
    def is_exhausted(self) -> bool:
        """Whether no request is left."""
        return self.is_limited and self._remaining <= 0

    @property
    def level(self) -> tuple[int, int] | None:
        """What is left and the total; None without a limit."""
        return (self._remaining, self._total) if self.is_limited else None

    def spend(self, cost: int = 1) -> None:
        """A request was made."""
        self._remaining = max(0, self._remaining - max(0, cost))

    def adjust(self, remaining: int | None, delta: int) -> None:
        """Set what is left and add to it, never below 0. Ignored without a limit."""
        if self.is_limited:
            self._remaining = max(0, (self._remaining if remaining is None else remaining) + delta)

    def status(self, event: str, prompt: str | None = None) -> FuelStatus:
        """What is left; of a continuation's prompt only the beginning is shown."""
        preview = f"{prompt[: _FUEL_PREVIEW - 3]}..." if prompt and len(prompt) > _FUEL_PREVIEW else prompt
        return FuelStatus(self._remaining, self._total, event, preview)


@dataclass(frozen=True, kw_only=True)
class RoundDeps:
    """What a round works with. `make_system_prompt` takes the fuel that is left; it blocks.

    `fallback_tool`, `call_user` or `call_agent`, is called after an answer that calls neither. `store_timeout` is how
    many seconds a round that breaks off has to store what came.
    """

    conversation: AsyncConversation
    inbox: Inbox
    model: Model
    settings: Settings
    dispatcher: Dispatcher
    scope: CallScope
    make_system_prompt: Callable[[tuple[int, int] | None], str]
    fallback_tool: str
    model_name: str
    tools: tuple[ToolOffer, ...]
    store_timeout: float = STORE_TIMEOUT


class Round:
    """One round of one conversation. Besides the history it knows how much fuel is left, and the stream."""

    def __init__(self, deps: RoundDeps, stamp: RoundStamp) -> None:
        self._deps = deps
        self._stamp = stamp
        self._conversation = deps.conversation
        self._emit = deps.conversation.emit
        self._fuel = FuelBudget(deps.settings.conversation.fuel)
        self._hooks = RoundHooks(deps.conversation, stamp, deps.scope.hooks)
        self._fallback_tool = deps.fallback_tool
        self._empty_replies = 0
        self._seen_notes: set[str] = set()
        self._request_builder: RequestBuilder | None = None
        # The length of the history when the system prompt was made; a new prompt in it makes a new one.
        self._prompted_turns = 0
        self.system_prompt = ""
        """The system prompt that was sent last."""
        self._batch_context = BatchContext(
            conversation=deps.conversation,
            dispatcher=deps.dispatcher,
            scope=deps.scope,
            stamp=stamp,
            store_timeout=deps.store_timeout,
        )

    async def run(self) -> RoundEnd:
        """Run until it is the user's turn.

        Raises: as Model.stream; Exhausted when the window is full; Unavailable when something cannot be stored.
        """
        turns = await self._conversation.turns()
        if isinstance(next_step(turns), Stop):
            end = RoundEnd("nothing", self._stamp.round)
            await self._emit(end)
            return end
        await self._hooks.start()
        await self._report_fuel("entering_turn")
        try:
            while (end := await self._step(turns)) is None:
                turns = await self._conversation.turns()
        except BaseException:
            with anyio.move_on_after(self._deps.store_timeout, shield=True), suppress(MaridError):
                await self._store_interrupted()
            raise
        finally:
            with anyio.move_on_after(self._deps.store_timeout, shield=True):
                await self._hooks.end()
        await self._emit(end)
        return end

    async def _step(self, turns: Sequence[Turn]) -> RoundEnd | None:
        match next_step(turns):
            case Stop() as rest:
                return await self._stop_round(rest)
            case RunTools(calls):
                await CallBatch(self._batch_context, calls, turns).run()
                made = tuple((call.name, call.entry.content) for call in calls)
                self._apply(await self._hooks.run_post_batch(self._fallback_tool, self._fuel.level, made))
                await self._report_fuel("after_tool_batch")
                return None
            case AskModel():
                if self._fuel.is_exhausted:
                    return await self._end_without_fuel(_last_reply_text(turns))
                finished = await self._stream_reply(await self._build_request(turns))
                return await self._handle_reply(finished, turns)

    async def _store_interrupted(self) -> None:
        """Calls that will not run any more get a result, so that the history is complete."""
        step = next_step(await self._conversation.turns())
        if isinstance(step, RunTools):
            await self._conversation.append([interrupted_entry(call, self._stamp) for call in step.calls])

    async def _stop_round(self, rest: Stop) -> RoundEnd:
        if rest.reason == "loop" and self._fuel.is_exhausted:
            return await self._end_without_fuel(rest.text)
        if rest.message:
            await self._emit(TextDelta(rest.message))
            await self._emit(ReplyEnded())
        return RoundEnd(rest.reason, self._stamp.round, rest.text)

    async def _report_fuel(self, event: str, prompt: str | None = None) -> None:
        if self._fuel.is_limited:
            await self._emit(self._fuel.status(event, prompt))

    async def _end_without_fuel(self, text: str) -> RoundEnd:
        await self._emit(FuelExhausted(self._deps.settings.conversation.fuel))
        return RoundEnd("fuel", self._stamp.round, text)

    async def _build_request(self, turns: Sequence[Turn]) -> ModelRequest:
        if self._request_builder is None:
            self._request_builder = await self._conversation.run_in_thread(self._make_request_builder)
        if not self._prompted_turns or (isinstance(turns[-1], UserTurn) and len(turns) != self._prompted_turns):
            self._prompted_turns = len(turns)
            await self._prepare_prompt(self._request_builder, turns)
        if self._request_builder.needs_window(turns):
            self._request_builder.set_window(await self._fetch_window())
        request, warning = self._request_builder.build_request(self.system_prompt, turns)
        if warning is not None:
            await self._emit(warning)
        return await self._hooks.change_request(request, self._fuel.level)

    async def _prepare_prompt(self, builder: RequestBuilder, turns: Sequence[Turn]) -> None:
        """Make once per prompt: the system prompt, the tools, and the changes of hooks to the loop."""
        self._apply(await self._hooks.run_pre_loop(self._fallback_tool, self._fuel.level, _last_prompt(turns)))
        level = self._fuel.level
        text = await self._conversation.run_in_thread(lambda: self._deps.make_system_prompt(level))
        self.system_prompt = await self._hooks.extend_system_prompt(text)
        builder.set_tools(await self._hooks.filter_tools(self._deps.tools, level))

    def _apply(self, change: LoopChange | None) -> None:
        if change is not None:
            self._fallback_tool = change.fallback or self._fallback_tool
            self._fuel.adjust(change.fuel, change.fuel_delta)

    async def _fetch_window(self) -> int:
        """What the provider says of its model; 0 when it does not know, or takes too long."""
        window = 0
        with anyio.move_on_after(_WINDOW_LOOKUP_TIMEOUT), suppress(MaridError):
            window = (await self._deps.model.info(self._deps.model_name)).context_window
        return window

    def _make_request_builder(self) -> RequestBuilder:
        """Reads the table of models, so it runs in a thread."""
        deps, settings = self._deps, self._deps.settings
        chosen = settings.conversation.context_window_limit
        # Our table of models may be behind the times: a person's limit is stronger, unless models.toml says otherwise.
        limit = deps.model.context_window(deps.model_name) if settings.model.window or not chosen else 0
        percent = settings.conversation.warn_threshold_percent
        window = WindowLimits(model=deps.model_name, limit=limit, user_limit=chosen, warn_percent=percent)
        return RequestBuilder(window, deps.tools, settings.model.api)

    async def _stream_reply(self, request: ModelRequest) -> Finished:
        """A whole answer. What there was of one that broke off is stored before the error goes on."""
        reply = ReplyStream(request.model, self._emit, self._seen_notes)
        try:
            await self._deps.model.stream(request, reply.feed)
            return _require_finished(reply)
        except BaseException as error:
            status = FAILED if isinstance(error, Exception) else INTERRUPTED
            with anyio.move_on_after(self._deps.store_timeout, shield=True), suppress(MaridError):
                await self._conversation.append(reply_entries(reply.partial_message(), self._stamp, status))
            raise

    async def _handle_reply(self, finished: Finished, turns: Sequence[Turn]) -> RoundEnd | None:
        entries = reply_entries(finished.reply, self._stamp)
        if not entries:
            return await self._handle_empty_reply(finished)
        await self._emit(ReplyEnded())
        self._empty_replies = 0
        self._fuel.spend()
        if entries[-1].entry_type != MESSAGE:  # calls come last
            await self._conversation.append(entries)
            return None
        if finished.reason in ("length", "filtered"):
            return await self._store_truncated(finished.reason, entries, turns)
        return await self._finish_answer(entries, turns)

    async def _handle_empty_reply(self, finished: Finished) -> RoundEnd | None:
        """The same request is made again, unless it is known to come to the same."""
        cost = self._deps.settings.conversation.fuel_empty_response_cost
        self._fuel.spend(cost)
        self._empty_replies += 1
        if finished.reason in ("length", "filtered"):
            return RoundEnd(finished.reason, self._stamp.round)
        await self._report_fuel("empty_response")
        ends_itself = self._fuel.is_limited and cost > 0
        return None if ends_itself or self._empty_replies < MAX_EMPTY_REPLIES else RoundEnd("empty", self._stamp.round)

    async def _store_truncated(self, reason: EndReason, entries: Sequence[Entry], turns: Sequence[Turn]) -> RoundEnd:
        stopped = [entry._replace(status=STOPPED, metadata={**entry.metadata, "finish": reason}) for entry in entries]
        await self._conversation.append(stopped)
        await self._hooks.run_post_message(_last_prompt(turns), _entries_text(entries))
        return RoundEnd(reason, self._stamp.round, _entries_text(entries))

    async def _finish_answer(self, words: Sequence[Entry], turns: Sequence[Turn]) -> RoundEnd | None:
        """Store a complete answer; if the model continues, its next prompt is stored in the same append."""
        next = find_handoff(turns) or HandoffDecision(self._fallback_tool)
        if next.tool != TO_AGENT:
            await self._store_answer(words, turns)
            return None
        if self._fuel.is_exhausted:
            await self._store_answer(words, turns)
            return await self._end_without_fuel(_entries_text(words))
        post = await collect_inbox(self._conversation, self._deps.inbox, self._stamp, turns)
        prompt = await self._hooks.change_prompt(next.text)
        more = continuation_entry(prompt, post.unread, self._fuel.level, self._stamp, self._fallback_tool)
        await self._store_answer(words, turns, more)
        await clear_inbox(self._conversation, self._deps.inbox, self._stamp, post)
        await self._report_fuel(AFTER_CONTINUATION, prompt)
        return None

    async def _store_answer(self, words: Sequence[Entry], turns: Sequence[Turn], *more: Entry) -> None:
        await self._conversation.append([*words, *more])
        await self._hooks.run_post_message(_last_prompt(turns), _entries_text(words))


async def collect_inbox(
    conversation: AsyncConversation, inbox: Inbox, stamp: RoundStamp, turns: Sequence[Turn]
) -> InboxArrivals:
    """What other conversations have sent to this one. Raises: Unavailable."""
    waiting, problem = await conversation.run_in_thread(partial(inbox.collect, stamp.conversation))
    return InboxArrivals(waiting, unread_messages(waiting, turns), problem)


async def clear_inbox(conversation: AsyncConversation, inbox: Inbox, stamp: RoundStamp, post: InboxArrivals) -> None:
    """Take it out of the inbox, once it is stored in the conversation. Raises: Unavailable."""
    if post.waiting:
        await conversation.run_in_thread(partial(inbox.remove, stamp.conversation, post.waiting))
    if post.unread:
        await conversation.emit(InboxInjected(len(post.unread)))


def _require_finished(reply: ReplyStream) -> Finished:
    if reply.finished is None:
        raise Unavailable("the model ended its answer without saying so")
    if reply.finished.reason == "error":
        raise Unavailable("the provider ended the answer with an error")
    return reply.finished


def _entries_text(words: Sequence[Entry]) -> str:
    return "".join(entry.content for entry in words)


def _last_prompt(turns: Sequence[Turn]) -> str:
    """What was said last, without what the program put around it."""
    entry = next((turn.entry for turn in reversed(turns) if isinstance(turn, UserTurn)), None)
    return "" if entry is None else str(entry.metadata.get(PROMPT_KEY, entry.content))


def _last_reply_text(turns: Sequence[Turn]) -> str:
    last = turns[-1]
    return last.text if isinstance(last, Reply) else ""
