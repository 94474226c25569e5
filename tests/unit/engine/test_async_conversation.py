import threading

import anyio
import pytest

from fakes.conversations import FakeConversations
from fakes.events import emit_into
from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.errors import Unavailable
from marid.core.round_events import EntryStored, RoundEvent
from marid.engine.async_conversation import AsyncConversation
from marid.engine.turns import UserTurn
from marid.toolkit.thread_pool import DaemonThreadPool

SAID = Entry(entry_type=MESSAGE, content="hi", role="user")


def test_what_is_stored_is_told_in_its_order() -> None:
    heard: list[RoundEvent] = []

    async def main() -> None:
        held = FakeConversations().open("c", create=True)
        ledger = AsyncConversation(held, emit_into(heard), DaemonThreadPool())
        await ledger.append([])
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ledger.append, [SAID, SAID])
        assert [type(turn) for turn in await ledger.turns()] == [UserTurn] * 10

    anyio.run(main)
    assert [what.entry.sequence for what in heard if isinstance(what, EntryStored)] == list(range(2, 12))


def test_nothing_waits_for_the_disk_on_the_loop() -> None:
    async def main() -> str:
        ledger = AsyncConversation(FakeConversations().open("c", create=True), emit_into([]), DaemonThreadPool())
        return await ledger.run_in_thread(lambda: threading.current_thread().name)

    assert anyio.run(main) != threading.current_thread().name


def test_what_cannot_be_stored_is_raised_and_not_told() -> None:
    heard: list[RoundEvent] = []

    async def main() -> None:
        held = FakeConversations().open("c", create=True)
        held.close()
        await AsyncConversation(held, emit_into(heard), DaemonThreadPool()).append([SAID])

    with pytest.raises(Unavailable):
        anyio.run(main)
    assert heard == []


def test_a_cancelled_append_is_stored_and_does_not_wait_for_a_slow_listener() -> None:
    async def main() -> None:
        reached = anyio.Event()

        async def never(what: RoundEvent) -> None:
            reached.set()
            await anyio.sleep_forever()

        held = FakeConversations().open("c", create=True)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(AsyncConversation(held, never, DaemonThreadPool()).append, [SAID])
                await reached.wait()
                group.cancel_scope.cancel()
        assert [entry.content for entry in held.window()][-1] == "hi"

    anyio.run(main)
