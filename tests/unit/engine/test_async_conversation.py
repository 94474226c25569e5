import threading
from pathlib import Path

import anyio
import pytest

from fakes.events import emit_into
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.open_conversation import OpenConversation
from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.errors import Unavailable
from marid.core.round_events import EntryStored, RoundEvent
from marid.engine.async_conversation import AsyncConversation
from marid.engine.turns import UserTurn
from marid.toolkit.thread_pool import DaemonThreadPool

SAID = Entry(entry_type=MESSAGE, content="hi", role="user")


@pytest.fixture
def conversation(tmp_path: Path) -> OpenConversation:
    return FileConversations(str(tmp_path)).open("c", create=True)


def test_what_is_stored_is_told_in_its_order(conversation: OpenConversation) -> None:
    heard: list[RoundEvent] = []

    async def main() -> None:
        stored = AsyncConversation(conversation, emit_into(heard), DaemonThreadPool())
        await stored.append([])
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(stored.append, [SAID, SAID])
        assert [type(turn) for turn in await stored.turns()] == [UserTurn] * 10

    anyio.run(main)
    assert [what.entry.sequence for what in heard if isinstance(what, EntryStored)] == list(range(2, 12))


def test_nothing_waits_for_the_disk_on_the_loop(conversation: OpenConversation) -> None:
    async def main() -> str:
        stored = AsyncConversation(conversation, emit_into([]), DaemonThreadPool())
        return await stored.run_in_thread(lambda: threading.current_thread().name)

    assert anyio.run(main) != threading.current_thread().name


def test_what_cannot_be_stored_is_raised_and_not_told(conversation: OpenConversation) -> None:
    heard: list[RoundEvent] = []

    async def main() -> None:
        conversation.close()
        await AsyncConversation(conversation, emit_into(heard), DaemonThreadPool()).append([SAID])

    with pytest.raises(Unavailable):
        anyio.run(main)
    assert heard == []


def test_a_cancelled_append_is_stored_and_does_not_wait_for_a_slow_listener(conversation: OpenConversation) -> None:
    async def main() -> None:
        reached = anyio.Event()

        async def never(what: RoundEvent) -> None:
            reached.set()
            await anyio.sleep_forever()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(AsyncConversation(conversation, never, DaemonThreadPool()).append, [SAID])
                await reached.wait()
                group.cancel_scope.cancel()
        assert [entry.content for entry in conversation.window()][-1] == "hi"

    anyio.run(main)
