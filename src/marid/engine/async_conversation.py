"""The conversation as a round uses it: every wait for the disk is in a thread, and events come in order."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio

from marid.core.conversation.entry import Entry
from marid.core.events import AsyncEmit
from marid.core.round_events import EntryStored, RoundEvent
from marid.engine.turns import Turn, parse_turns
from marid.ports.transcript import Conversation
from marid.toolkit.thread_pool import DaemonThreadPool

T = TypeVar("T")


class AsyncConversation:
    """For one round: what it stores, and its events."""

    def __init__(self, conversation: Conversation, emit: AsyncEmit[RoundEvent], threads: DaemonThreadPool) -> None:
        self.conversation = conversation
        self._emit = emit
        self._lock = anyio.Lock()
        self._threads = threads

    async def emit(self, event: RoundEvent) -> None:
        """Deliver an event to the listener of the round; returns when it has taken it."""
        await self._emit(event)

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """The result of blocking `work`. A cancelled round waits for its end, so that nothing is left half done."""
        return await self._threads.run_shielded(work)

    async def turns(self) -> tuple[Turn, ...]:
        """The window as it is now. Raises: Unavailable."""
        return parse_turns(await self.run_in_thread(self.conversation.window))

    async def append(self, entries: Sequence[Entry], on_stored: Callable[[], object] | None = None) -> None:
        """Store all or none, durably, also when the round is cancelled: what was said and done is not lost.

        `on_stored` is called as soon as they are stored, before the listener hears of them and may fail.

        Raises: Unavailable, Refused when the conversation is archived.
        """
        if not entries:
            return
        with anyio.CancelScope(shield=True) as scope:
            async with self._lock:
                stored = await self.run_in_thread(partial(self.conversation.append, tuple(entries)))
                if on_stored is not None:
                    on_stored()
                scope.shield = False  # a round that is cancelled does not wait for a slow listener
                for entry in stored:
                    await self.emit(EntryStored(entry))
