from collections.abc import Awaitable, Callable

import anyio
import pytest

from fakes.dispatcher import async_test
from fakes.events import Recorder
from marid.core.caller import Caller
from marid.core.events import Event, Notice
from marid.toolkit.event_stream import AsyncEventStream

CALLER = Caller(face="test", user="ann", conversation="c1")


def texts(listener: Recorder[Notice]) -> list[tuple[int, str]]:
    return [(event.sequence, event.what.text) for event in listener.events]


class Gate(Recorder[Notice]):
    """A listener that takes its first event only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = anyio.Event()
        self.opened = anyio.Event()

    async def __call__(self, event: Event[Notice]) -> None:
        self.reached.set()
        await self.opened.wait()
        await super().__call__(event)


@async_test
async def test_a_slow_listener_holds_back_its_own_stream_and_no_other() -> None:
    slow, quick = Gate(), Recorder[Notice]()
    held, free = AsyncEventStream(CALLER, slow, "held"), AsyncEventStream(CALLER, quick, "free")
    done: list[str] = []

    async def source(stream: AsyncEventStream[Notice]) -> None:
        for text in ("a", "b"):
            await stream.emit(Notice(text))
        done.append(stream.id)

    async with anyio.create_task_group() as group:
        group.start_soon(source, held)
        await slow.reached.wait()
        await source(free)
        assert (done, slow.events) == (["free"], [])
        slow.opened.set()
    assert done == ["free", "held"]


@async_test
async def test_events_of_tasks_that_emit_at_once_come_one_at_a_time_in_the_order_of_emit() -> None:
    listener = Gate()
    stream = AsyncEventStream(CALLER, listener, "s1")
    async with anyio.create_task_group() as group:
        for text in "abcd":
            group.start_soon(stream.emit, Notice(text))
            await anyio.wait_all_tasks_blocked()
        listener.opened.set()
    await stream.emit(Notice("e"))
    assert texts(listener) == list(enumerate("abcde"))


async def _wait_and_cancel(stream: AsyncEventStream[Notice], listener: Gate, *, woken: bool) -> None:
    """Emit a, b and c; cancel b while it waits for its turn, or when it has got it and has not run yet."""
    scope = anyio.CancelScope()

    async def cancelled() -> None:
        with scope:
            await stream.emit(Notice("b"))

    async with anyio.create_task_group() as group:
        group.start_soon(stream.emit, Notice("a"))
        await listener.reached.wait()
        group.start_soon(cancelled)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(stream.emit, Notice("c"))
        await anyio.wait_all_tasks_blocked()
        if not woken:
            scope.cancel()
            await anyio.wait_all_tasks_blocked()
        listener.opened.set()
        if woken:
            while not listener.events:
                await anyio.lowlevel.cancel_shielded_checkpoint()
            scope.cancel()


@pytest.mark.parametrize("woken", [False, True])
@async_test
async def test_a_task_that_is_cancelled_while_it_waits_does_not_stop_the_stream(woken: bool) -> None:
    listener = Gate()
    stream = AsyncEventStream(CALLER, listener, "s1")
    await _wait_and_cancel(stream, listener, woken=woken)
    await stream.emit(Notice("d"))
    heard = [text for _, text in texts(listener) if text != "b"]
    assert heard == ["a", "c", "d"]


def _raising() -> Callable[[Event[Notice]], Awaitable[None]]:
    async def listen(event: Event[Notice]) -> None:
        raise OSError(event.what.text)

    return listen


@async_test
async def test_what_a_listener_raises_reaches_the_emitter_each_time() -> None:
    stream = AsyncEventStream(CALLER, _raising(), "s1")
    for text in ("a", "b"):
        with pytest.raises(OSError, match=text):
            await stream.emit(Notice(text))


@async_test
async def test_a_listener_that_is_cancelled_leaves_the_stream_usable() -> None:
    listener = Gate()
    stream = AsyncEventStream(CALLER, listener, "s1")
    with anyio.move_on_after(0.01):
        await stream.emit(Notice("a"))
    listener.opened.set()
    await stream.emit(Notice("b"))
    assert texts(listener) == [(1, "b")]
