"""The calls of one reply, made: what changes nothing at once, the rest one after another, results in call order."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import anyio

from marid.core.entry import FLOW_CALL, OK, TO_AGENT, TO_USER, Entry
from marid.core.errors import MaridError, NotFound
from marid.core.policy import Effect
from marid.core.rounds import RoundHappening, ToolEnded, ToolStarted
from marid.engine.ledger import Ledger
from marid.engine.messages import parsed
from marid.engine.replies import Stamp
from marid.engine.results import MOST_RESULT, interrupted_entry, result_entry, started_entry
from marid.engine.steps import WARNED_AT, WARNING, Shape, handed, shapes, times
from marid.engine.turns import Made, Turn
from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.outcome import Failed, Outcome
from marid.toolkit.scope import Scope

SETTLING = 2.0
"""Seconds in which a round that is cancelled stores what there is: a slow disk may need some, a person waits for 3."""

MOST_CALLS = 100
"""Calls of one reply that are made."""

_AT_ONCE = frozenset({Effect.READ, Effect.NET})
# What a person wants to see of a call's arguments.
_TELLING = frozenset(
    {"command", "context_name", "model", "name", "path", "pattern", "prompt", "query", "source", "symbol", "to", "url"}
)
_MOST_SUMMARY = 120
_NAMELESS = Failed(code="bad_input", message="not made: the call has no name; name the tool that you want")
_ROUND_ENDS = Failed(code="bad_input", message=f"not made: {TO_USER} beside it gives the word to the user")
_TOO_MANY = Failed(code="exhausted", message=f"not made: a reply may have {MOST_CALLS} calls, make this one in another")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What calls are made with."""

    ledger: Ledger
    dispatcher: Dispatcher
    scope: Scope
    stamp: Stamp
    emit: Callable[[RoundHappening], None]
    settling: float = SETTLING


@dataclass(kw_only=True)
class _Slot:
    call: Made
    result: Entry | None = None


class Batch:
    """One reply's calls without results; made anew for each reply."""

    def __init__(self, bench: Bench, calls: Sequence[Made], turns: Sequence[Turn]) -> None:
        self._bench = bench
        self._slots = [_Slot(call=call) for call in calls]
        self._stored = 0
        self._before = shapes(turns[:-1])
        word = handed(turns[-1:])
        self._handed = word is not None and word.name == TO_USER
        self._lock = anyio.Lock()
        self._scope = replace(bench.scope, started=self._started)

    async def make(self) -> None:
        """Returns when every call has its result in the history. One that may have happened before is not made again.

        Raises: Unavailable when something cannot be stored. What broke off is stored as interrupted.
        """
        try:
            await self._make_all()
        except BaseException:
            with anyio.move_on_after(self._bench.settling, shield=True), suppress(MaridError):
                await self._give_up()
            raise

    async def _make_all(self) -> None:
        for slot in self._slots:
            if slot.call.started:
                slot.result = interrupted_entry(slot.call, self._bench.stamp)
        for slot in self._slots[MOST_CALLS:]:
            slot.result = slot.result or result_entry(slot.call, _TOO_MANY, self._bench.stamp)
        waiting = [slot for slot in self._slots if slot.result is None]
        await self._at_once([slot for slot in waiting if self._is_quick(slot.call)])
        # Whether the model goes on is known once it is known that it did not end the round.
        for slot in sorted(waiting, key=lambda slot: slot.call.name == TO_AGENT):
            if slot.result is None:
                await self._one(slot)
        await self._flush()

    async def _at_once(self, slots: Sequence[_Slot]) -> None:
        failures: list[MaridError] = []
        async with anyio.create_task_group() as group:

            async def one(slot: _Slot) -> None:
                try:
                    await self._one(slot)
                except MaridError as error:
                    failures.append(error)
                    group.cancel_scope.cancel()

            for slot in slots:
                group.start_soon(one, slot)
        if failures:
            raise failures[0]

    async def _one(self, slot: _Slot) -> None:
        outcome = await self._outcome(slot.call)
        slot.result = result_entry(slot.call, outcome, self._bench.stamp)
        await self._flush()

    async def _outcome(self, call: Made) -> Outcome:
        args = parsed(call.entry.content)
        self._bench.emit(ToolStarted(call.id, call.name, summary_of(args or {})))
        if not call.entry.to:
            return _NAMELESS
        if call.name == TO_AGENT and self._ends_round():
            return _ROUND_ENDS
        if args is None:
            return Failed(code="bad_input", message=f"the arguments of '{call.name}' are no JSON object")
        key = call.entry.id
        return await self._bench.dispatcher.call(call.name, args, self._scope, call_id=key, cap=MOST_RESULT)

    def _ends_round(self) -> bool:
        """Whether this reply has given the word to the user, in this run or before a crash."""
        return self._handed or any(
            slot.call.name == TO_USER and slot.result is not None and slot.result.status == OK for slot in self._slots
        )

    async def _started(self, key: str) -> None:
        """Before a deed: from now on this call is not made again, whatever happens. Handing over may be made again."""
        slot = next(slot for slot in self._slots if slot.call.entry.id == key)
        if not slot.call.started and slot.call.entry.entry_type != FLOW_CALL:
            await self._bench.ledger.append([started_entry(slot.call, self._bench.stamp)])
            slot.call = replace(slot.call, started=True)

    async def _flush(self) -> None:
        """Store the results that are there, as far as all before them are."""
        async with self._lock:
            end = self._stored
            while end < len(self._slots) and self._slots[end].result is not None:
                end += 1
            await self._store(end)

    async def _give_up(self) -> None:
        """Store all results; calls that have none were interrupted."""
        await self._store(len(self._slots))

    async def _store(self, end: int) -> None:
        ready = self._slots[self._stored : end]
        entries: list[Entry] = []
        for slot in ready:
            result = slot.result or interrupted_entry(slot.call, self._bench.stamp)
            shape = Shape(slot.call.name, slot.call.entry.content, result.content)
            looping = times(self._before, shape) + 1 >= WARNED_AT
            entries.append(result._replace(content=result.content + WARNING) if looping else result)

        def kept() -> None:
            self._stored = end

        await self._bench.ledger.append(entries, kept)
        for slot, entry in zip(ready, entries, strict=True):
            self._bench.emit(ToolEnded(slot.call.id, slot.call.name, entry.content, failed=entry.status != OK))

    def _is_quick(self, call: Made) -> bool:
        try:
            return self._bench.dispatcher.inventory.find(call.name).effect in _AT_ONCE
        except NotFound:
            return True


def summary_of(args: Mapping[str, object]) -> str:
    """What a call is about, in a few words."""
    told = [value for name, value in args.items() if name in _TELLING and isinstance(value, str)]
    line = " ".join(" ".join(told).split())
    return line if len(line) <= _MOST_SUMMARY else f"{line[: _MOST_SUMMARY - 3]}..."
