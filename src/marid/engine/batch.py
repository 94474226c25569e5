"""Run the calls of a reply: reads in parallel, the rest one after another; results in the order of the calls."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import anyio

from marid.core.conversation.entry import FLOW_CALL, INTERRUPTED, OK, TO_AGENT, TO_USER, Entry
from marid.core.errors import MaridError, NotFound
from marid.core.policy.policy import Effect
from marid.core.round_events import ToolEnded, ToolStarted
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import MAX_RESULT_BYTES, RoundStamp, interrupted_entry, result_entry, started_entry
from marid.engine.steps import (
    LOOP_WARNING,
    LOOP_WARNING_AT,
    CallFingerprint,
    call_fingerprints,
    consecutive_uses,
    find_handoff,
)
from marid.engine.turns import CallRecord, Turn
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.outcome import Outcome, ToolFailure

STORE_TIMEOUT = 2.0
"""Seconds that a cancelled round has to store what came."""

MAX_CALLS = 100
"""Calls of one reply that are run."""

_PARALLEL_EFFECTS = frozenset({Effect.READ, Effect.NET})
# The arguments that a summary of a call shows.
_SUMMARY_ARGS = frozenset(
    {"command", "context_name", "model", "name", "path", "pattern", "prompt", "query", "source", "symbol", "to", "url"}
)
_MAX_SUMMARY = 120
_NAMELESS = ToolFailure(code="bad_input", message="not called: the call names no tool")
_ROUND_ENDS = ToolFailure(code="bad_input", message=f"not called: {TO_USER} in the same reply ends the round")
_TOO_MANY = ToolFailure(
    code="exhausted", message=f"not called: a reply may have {MAX_CALLS} calls; repeat this one in the next"
)


@dataclass(frozen=True, kw_only=True)
class BatchContext:
    """What the calls of a round share."""

    conversation: AsyncConversation
    dispatcher: Dispatcher
    scope: CallScope
    stamp: RoundStamp
    store_timeout: float = STORE_TIMEOUT


@dataclass(kw_only=True)
class _Slot:
    call: CallRecord
    result: Entry | None = None
    code: str = INTERRUPTED
    seconds: float = 0.0


class CallBatch:
    """The calls of one reply that have no results."""

    def __init__(self, context: BatchContext, calls: Sequence[CallRecord], turns: Sequence[Turn]) -> None:
        self._context = context
        self._slots = [_Slot(call=call) for call in calls]
        self._stored = 0
        self._earlier_calls = call_fingerprints(turns[:-1])
        word = find_handoff(turns[-1:])
        self._hands_to_user = word is not None and word.tool == TO_USER
        self._lock = anyio.Lock()
        self._scope = replace(context.scope, on_effect=self._store_started)

    async def run(self) -> None:
        """Run them until every call has a result in the history. A call that had started before is not repeated.

        Raises: Unavailable if something cannot be stored. Calls that break off are stored as interrupted.
        """
        try:
            await self._run_all()
        except BaseException:
            with anyio.move_on_after(self._context.store_timeout, shield=True), suppress(MaridError):
                await self._store_interrupted()
            raise

    async def _run_all(self) -> None:
        for slot in self._slots:
            if slot.call.started:
                slot.result = interrupted_entry(slot.call, self._context.stamp)
        for slot in self._slots[MAX_CALLS:]:
            if slot.result is None:
                slot.result, slot.code = result_entry(slot.call, _TOO_MANY, self._context.stamp), _TOO_MANY.code
        waiting = [slot for slot in self._slots if slot.result is None]
        await self._run_parallel([slot for slot in waiting if self._is_parallel(slot.call)])
        # `call_agent` comes last: another call may end the round.
        for slot in sorted(waiting, key=lambda slot: slot.call.name == TO_AGENT):
            if slot.result is None:
                await self._run_call(slot)
        await self._flush()

    async def _run_parallel(self, slots: Sequence[_Slot]) -> None:
        failures: list[MaridError] = []
        async with anyio.create_task_group() as group:

            async def run_one(slot: _Slot) -> None:
                try:
                    await self._run_call(slot)
                except MaridError as error:
                    failures.append(error)
                    group.cancel_scope.cancel()

            for slot in slots:
                group.start_soon(run_one, slot)
        if failures:
            raise failures[0]

    async def _run_call(self, slot: _Slot) -> None:
        started = time.perf_counter()
        outcome = await self._dispatch_call(slot.call)
        slot.seconds = time.perf_counter() - started
        slot.code = outcome.code if isinstance(outcome, ToolFailure) else OK
        slot.result = result_entry(slot.call, outcome, self._context.stamp)
        await self._flush()

    async def _dispatch_call(self, call: CallRecord) -> Outcome:
        args = call.arguments
        started = ToolStarted(call.id, call.name, summarize_args(args or {}) or None, call.entry.id)
        await self._context.conversation.emit(started)
        if not call.entry.to:
            return _NAMELESS
        if call.name == TO_AGENT and self._ends_round():
            return _ROUND_ENDS
        if args is None:
            return ToolFailure(code="bad_input", message=f"the arguments of '{call.name}' are not a JSON object")
        key = call.entry.id
        return await self._context.dispatcher.call(
            call.name, args, self._scope, call_id=key, max_bytes=MAX_RESULT_BYTES
        )

    def _ends_round(self) -> bool:
        """Whether this reply has called `call_user`, in this run or before a crash."""
        return self._hands_to_user or any(
            slot.call.name == TO_USER and slot.result is not None and slot.result.status == OK for slot in self._slots
        )

    async def _store_started(self, key: str) -> None:
        """Store that the call has started, so that it is never repeated. A handoff may be repeated."""
        slot = next(slot for slot in self._slots if slot.call.entry.id == key)
        if not slot.call.started and slot.call.entry.entry_type != FLOW_CALL:
            await self._context.conversation.append([started_entry(slot.call, self._context.stamp)])
            slot.call = replace(slot.call, started=True)

    async def _flush(self) -> None:
        """Store the results for which all earlier ones are there."""
        async with self._lock:
            end = self._stored
            while end < len(self._slots) and self._slots[end].result is not None:
                end += 1
            await self._store(end)

    async def _store_interrupted(self) -> None:
        """Store all results; calls that have none were interrupted."""
        await self._store(len(self._slots))

    async def _store(self, end: int) -> None:
        ready = self._slots[self._stored : end]
        entries: list[Entry] = []
        for slot in ready:
            result = slot.result or interrupted_entry(slot.call, self._context.stamp)
            shape = CallFingerprint(slot.call.name, slot.call.entry.content, result.content)
            looping = consecutive_uses(self._earlier_calls, shape) + 1 >= LOOP_WARNING_AT
            entries.append(result._replace(content=result.content + LOOP_WARNING) if looping else result)

        def mark_stored() -> None:
            self._stored = end

        await self._context.conversation.append(entries, mark_stored)
        for slot, entry in zip(ready, entries, strict=True):
            call, failed = slot.call, entry.status != OK
            ended = ToolEnded(call.id, call.name, entry.content, failed, slot.code, slot.seconds, call.entry.id)
            await self._context.conversation.emit(ended)

    def _is_parallel(self, call: CallRecord) -> bool:
        try:
            return self._context.dispatcher.effect_of(call.name) in _PARALLEL_EFFECTS
        except NotFound:
            return True


def summarize_args(args: Mapping[str, object]) -> str:
    """The main arguments of a call on one line."""
    shown = [value for name, value in args.items() if name in _SUMMARY_ARGS and isinstance(value, str)]
    line = " ".join(" ".join(shown).split())
    return line if len(line) <= _MAX_SUMMARY else f"{line[: _MAX_SUMMARY - 3]}..."
