"""The events of a round or of calls: numbered, and awaited by their listener."""

from collections import deque
from typing import TYPE_CHECKING, Generic

from marid.core.caller import Caller
from marid.core.conversation.entry import new_id
from marid.core.events import Event, EventListener, W

if TYPE_CHECKING:
    import anyio


class AsyncEventStream(Generic[W]):
    """Numbers the events of one run and awaits its listener, one event at a time and in the order of `emit`.

    Tasks that emit at once wait for each other, and for the listener. What the listener raises, cancellation included,
    is raised where the event was emitted; the next event is delivered all the same. Use it on the event loop only.
    """

    def __init__(self, caller: Caller, listener: EventListener[W], id: str = "") -> None:
        """`id` names the run; "" makes a new one."""
        self.id = id or new_id()
        self.caller = caller
        self._listener = listener
        self._next = 0
        self._delivering = False
        self._waiting: deque[anyio.Event] = deque()

    async def emit(self, what: W) -> None:
        """Deliver `what` with the next number; returns when the listener has taken it."""
        if self._delivering:
            await self._wait_turn()
        self._delivering = True
        try:
            event = Event(self.id, self._next, self.caller, what)
            self._next += 1
            await self._listener(event)
        finally:
            # Inline for speed, since every streamed piece of text comes this way.
            if self._waiting:
                self._pass_turn()
            else:
                self._delivering = False

    async def _wait_turn(self) -> None:
        import anyio  # imported when used: listing the tools starts no event loop

        turn = anyio.Event()
        self._waiting.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._pass_turn()
            else:
                self._waiting.remove(turn)
            raise

    def _pass_turn(self) -> None:
        """The turn goes to the longest waiting task, and no other can take it in between."""
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._delivering = False
