"""The conversation as a round uses it: every wait for the disk is in a thread, and what is stored is told in order."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread

from marid.core.entry import Entry
from marid.core.rounds import RoundHappening, Stored
from marid.engine.turns import Turn, turns
from marid.ports.transcript import Conversation

T = TypeVar("T")

_AT_ONCE = 4


def _nothing() -> None:
    pass


class Ledger:
    """For one round. Its threads are its own, so that no other conversation waits for it."""

    def __init__(self, conversation: Conversation, emit: Callable[[RoundHappening], None]) -> None:
        self.conversation = conversation
        self.emit = emit
        self._lock = anyio.Lock()
        self._room = anyio.CapacityLimiter(_AT_ONCE)

    async def run(self, work: Callable[[], T]) -> T:
        """What blocking `work` gives. Cancelling waits for its end, so that nothing is left half done."""
        return await anyio.to_thread.run_sync(work, limiter=self._room)

    async def turns(self) -> tuple[Turn, ...]:
        """The window as it is now. Raises: Unavailable."""
        return turns(await self.run(self.conversation.window))

    async def append(self, entries: Sequence[Entry], kept: Callable[[], None] = _nothing) -> tuple[Entry, ...]:
        """Store all or none, durably, also when the round is cancelled: what was said and done is not lost.

        `kept` is called as soon as they are stored, before anybody hears of them: whoever hears may fail.

        Raises: Unavailable, Refused when the conversation is archived.
        """
        if not entries:
            return ()
        stored: tuple[Entry, ...] = ()
        with anyio.CancelScope(shield=True):
            async with self._lock:
                stored = await self.run(partial(self.conversation.append, tuple(entries)))
                kept()
                for entry in stored:
                    self.emit(Stored(entry))
        return stored
