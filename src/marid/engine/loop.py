"""The agent loop: look at the history, do the next step, store it, look again, until the user has the word."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import anyio

from marid.core.chat import Finished, ModelRequest, Parameters
from marid.core.entry import FAILED, INTERRUPTED, STOPPED, TO_AGENT, Entry
from marid.core.errors import MaridError, Unavailable
from marid.core.rounds import CONTINUED, End, Reason, ReplyEnded, RoundHappening, Words
from marid.core.settings import Settings
from marid.engine.asking import Questioner, Window
from marid.engine.batch import SETTLING, Batch, Bench
from marid.engine.beginning import arrived, received
from marid.engine.fuel import Tank
from marid.engine.hearing import Hearing
from marid.engine.ledger import Ledger
from marid.engine.offers import offers
from marid.engine.opening import continuation_entry
from marid.engine.replies import Stamp, reply_entries
from marid.engine.results import interrupted_entry
from marid.engine.steps import Act, Ask, Handed, Rest, handed, next_step
from marid.engine.turns import Reply, Said, Turn
from marid.ports.conversations import Inbox
from marid.ports.model import Model
from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.scope import Scope

# Seconds for a provider to say how much its model takes in: a list that is slow is not worth the wait.
_SOON = 3.0
MOST_EMPTY = 3
"""Empty replies in a row that end a round which fuel does not end."""


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a round works with. `system` makes the system prompt from what fuel is left; it may block.

    `fallback` is who has the word after an answer that does not say so: `call_user` or `call_agent`. `settling` are
    the seconds in which a round that breaks off stores what there is.
    """

    ledger: Ledger
    inbox: Inbox
    model: Model
    settings: Settings
    dispatcher: Dispatcher
    scope: Scope
    system: Callable[[tuple[int, int] | None], str]
    emit: Callable[[RoundHappening], None]
    fallback: str
    parameters: Parameters
    name: str
    """The model's."""
    settling: float = SETTLING


class Round:
    """One round of one conversation. Besides the history it knows how much fuel is left, and the stream."""

    def __init__(self, means: Means, stamp: Stamp) -> None:
        self._means = means
        self._stamp = stamp
        self._ledger = means.ledger
        self._emit = means.emit
        self._tank = Tank(means.settings.fuel, means.emit)
        self._empties = 0
        self._noted: set[str] = set()
        self._questioner: Questioner | None = None
        # How long the history was when the system prompt was made: it is made anew when somebody has spoken since.
        self._prompted = 0
        self.system = ""
        """The system prompt that was sent last."""
        self._bench = Bench(
            ledger=means.ledger,
            dispatcher=means.dispatcher,
            scope=means.scope,
            stamp=stamp,
            emit=means.emit,
            settling=means.settling,
        )

    async def run(self) -> End:
        """Until the user has the word.

        Raises: as Model.stream; Exhausted when the window is full; Unavailable when something cannot be stored.
        """
        turns = await self._ledger.turns()
        if isinstance(next_step(turns), Rest):
            return End("nothing", self._stamp.round)
        self._tank.tell("entering_turn")
        try:
            while (end := await self._step(turns)) is None:
                turns = await self._ledger.turns()
        except BaseException:
            with anyio.move_on_after(self._means.settling, shield=True), suppress(MaridError):
                await self._give_up()
            raise
        return end

    async def _step(self, turns: Sequence[Turn]) -> End | None:
        match next_step(turns):
            case Rest() as rest:
                return self._rested(rest)
            case Act(calls):
                await Batch(self._bench, calls, turns).make()
                self._tank.tell("after_tool_batch")
                return None
            case Ask():
                if self._tank.spent:
                    return self._out_of_fuel(_last_words(turns))
                finished = await self._heard(await self._request(turns))
                return await self._replied(finished, turns)

    async def _give_up(self) -> None:
        """Calls that nobody will make any more get a result, so that the history is whole."""
        step = next_step(await self._ledger.turns())
        if isinstance(step, Act):
            await self._ledger.append([interrupted_entry(call, self._stamp) for call in step.calls])

    def _rested(self, rest: Rest) -> End:
        if rest.reason == "loop" and self._tank.spent:
            return self._out_of_fuel(rest.text)
        if rest.message:
            self._emit(Words(rest.message))
            self._emit(ReplyEnded())
        return End(rest.reason, self._stamp.round, rest.text)

    def _out_of_fuel(self, text: str) -> End:
        self._tank.tell_end()
        return End("fuel", self._stamp.round, text)

    async def _request(self, turns: Sequence[Turn]) -> ModelRequest:
        if self._questioner is None:
            self._questioner = await self._ledger.run(self._prepared)
        if not self._prompted or (isinstance(turns[-1], Said) and len(turns) != self._prompted):
            self._prompted = len(turns)
            level = self._tank.level
            self.system = await self._ledger.run(lambda: self._means.system(level))
        if self._questioner.wonders(turns):
            self._questioner.learn(await self._told_window())
        return self._questioner.request(self.system, turns)

    async def _told_window(self) -> int:
        """What the provider says of its model; 0 when it does not know, or takes too long."""
        window = 0
        with anyio.move_on_after(_SOON), suppress(MaridError):
            window = (await self._means.model.info(self._means.name)).context_window
        return window

    def _prepared(self) -> Questioner:
        """Schemas and tables are made here, in a thread."""
        means = self._means
        settings = means.settings
        chosen = settings.context_window_limit
        # Our table of models may be behind the times: a person's limit is stronger, unless models.toml says otherwise.
        limit = means.model.context_window(means.name) if settings.model_window or not chosen else 0
        tools = offers(means.dispatcher.offered(means.scope), means.fallback)
        percent = settings.warn_threshold_percent
        window = Window(model=means.name, limit=limit, chosen=chosen, percent=percent)
        return Questioner(window, tools, means.parameters, means.emit)

    async def _heard(self, request: ModelRequest) -> Finished:
        """A whole answer. What there was of one that broke off is stored before the error goes on."""
        hearing = Hearing(request.model, self._emit, self._noted)
        try:
            await self._means.model.stream(request, hearing.take)
            return _whole(hearing)
        except BaseException as error:
            status = FAILED if isinstance(error, Exception) else INTERRUPTED
            with anyio.move_on_after(self._means.settling, shield=True), suppress(MaridError):
                await self._ledger.append(reply_entries(hearing.partial(), self._stamp, status))
            raise

    async def _replied(self, finished: Finished, turns: Sequence[Turn]) -> End | None:
        entries = reply_entries(finished.reply, self._stamp)
        if not entries:
            return self._empty(finished)
        self._emit(ReplyEnded())
        self._empties = 0
        self._tank.use()
        if finished.reply.calls:
            await self._ledger.append(entries)
            return None
        if finished.reason in ("length", "filtered"):
            return await self._cut(finished.reason, entries)
        return await self._spoken(entries, turns)

    def _empty(self, finished: Finished) -> End | None:
        """The same request is made again, unless it is known to come to the same."""
        cost = self._means.settings.fuel_empty_response_cost
        self._tank.use(cost)
        self._empties += 1
        if finished.reason in ("length", "filtered"):
            return End(finished.reason, self._stamp.round)
        self._tank.tell("empty_response")
        ends_itself = self._tank.limited and cost > 0
        return None if ends_itself or self._empties < MOST_EMPTY else End("empty", self._stamp.round)

    async def _cut(self, reason: Reason, entries: Sequence[Entry]) -> End:
        stopped = [entry._replace(status=STOPPED, metadata={**entry.metadata, "finish": reason}) for entry in entries]
        await self._ledger.append(stopped)
        return End(reason, self._stamp.round, _text(entries))

    async def _spoken(self, words: Sequence[Entry], turns: Sequence[Turn]) -> End | None:
        """The answer is whole: the word goes to the user, or back to the model in the same append."""
        next = handed(turns) or Handed(self._means.fallback)
        if next.name != TO_AGENT:
            await self._ledger.append(words)
            return None
        if self._tank.spent:
            await self._ledger.append(words)
            return self._out_of_fuel(_text(words))
        post = await arrived(self._ledger, self._means.inbox, self._stamp, turns)
        more = continuation_entry(next.words, post.new, self._tank.level, self._stamp, self._means.fallback)
        await self._ledger.append([*words, more])
        await received(self._ledger, self._means.inbox, self._stamp, post)
        self._tank.tell(CONTINUED, next.words)
        return None


def _whole(hearing: Hearing) -> Finished:
    if hearing.finished is None:
        raise Unavailable("the model ended its answer without saying so")
    if hearing.finished.reason == "error":
        raise Unavailable("the provider ended the answer with an error")
    return hearing.finished


def _text(words: Sequence[Entry]) -> str:
    return "".join(entry.content for entry in words)


def _last_words(turns: Sequence[Turn]) -> str:
    last = turns[-1]
    return last.text if isinstance(last, Reply) else ""
