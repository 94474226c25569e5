import threading
import time
from collections.abc import Callable

import anyio
import pytest

from fakes.dispatcher import async_test
from marid.core.errors import Unavailable
from marid.toolkit.thread_pool import DaemonThreadPool


@async_test
async def test_work_gives_its_result_or_raises_its_error() -> None:
    threads = DaemonThreadPool(2)
    assert await threads.run(lambda: 5) == 5
    assert await threads.run(lambda: 6, 10.0) == 6
    with pytest.raises(KeyError):
        await threads.run(_broken)


def _broken() -> None:
    raise KeyError("x")


@async_test
async def test_work_is_done_by_daemons_that_are_used_again() -> None:
    threads = DaemonThreadPool(4)
    found = {await threads.run(threading.current_thread) for _ in range(50)}
    assert len(found) == 1
    assert all(one.daemon for one in found)


@async_test
async def test_no_more_threads_are_at_work_than_allowed_and_no_fewer() -> None:
    threads = DaemonThreadPool(3)
    together = threading.Barrier(3)
    most: list[int] = []
    at_work = [0]
    lock = threading.Lock()

    def work() -> None:
        with lock:
            at_work[0] += 1
            most.append(at_work[0])
        together.wait(10)  # passed only by three at once
        with lock:
            at_work[0] -= 1

    async with anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(threads.run, work)
    assert max(most) == 3


def _until(event: threading.Event) -> Callable[[], None]:
    def work() -> None:
        event.wait(30)

    return work


@async_test
async def test_work_that_takes_too_long_is_left_and_makes_room() -> None:
    threads = DaemonThreadPool(1)
    free = threading.Event()
    with pytest.raises(TimeoutError):
        await threads.run(_until(free), 0.02)
    assert await threads.run(lambda: "next", 10.0) == "next"
    free.set()


@async_test
async def test_a_job_that_waits_for_a_thread_has_all_its_time_left() -> None:
    threads = DaemonThreadPool(1)
    free = threading.Event()
    answers: list[str] = []

    async def second() -> None:
        answers.append(await threads.run(lambda: "late", 0.03))

    async with anyio.create_task_group() as group:
        group.start_soon(threads.run, _until(free))
        await anyio.wait_all_tasks_blocked()
        group.start_soon(second)
        await anyio.sleep(0.1)
        free.set()
    assert answers == ["late"]


@async_test
async def test_cancelling_does_not_wait() -> None:
    threads = DaemonThreadPool(1)
    free = threading.Event()
    done: list[int] = []
    start = time.monotonic()
    with anyio.move_on_after(0.02):
        await threads.run(_until(free))
    with anyio.move_on_after(0.02):
        await threads.run(_until(free))
    assert time.monotonic() - start < 5
    free.set()
    await threads.run(lambda: done.append(1))
    assert done == [1]


@async_test
async def test_work_given_up_before_it_began_is_never_done() -> None:
    threads = DaemonThreadPool(1)
    free = threading.Event()
    done: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(threads.run, _until(free))
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.02):
            await threads.run(lambda: done.append("cancelled"))
        free.set()
    await threads.run(lambda: done.append("after"))
    assert done == ["after"]


@async_test
async def test_when_too_many_hang_no_more_are_taken_until_some_return() -> None:
    threads = DaemonThreadPool(1, max_abandoned=2)
    free = threading.Event()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await threads.run(_until(free), 0.01)
    with pytest.raises(Unavailable, match="too many calls hang"):
        await threads.run(lambda: 1)
    free.set()
    while True:
        try:
            assert await threads.run(lambda: 1) == 1
            break
        except Unavailable:
            await anyio.lowlevel.checkpoint()


def test_a_pool_outlives_the_loop_that_left_work_behind() -> None:
    threads = DaemonThreadPool(1)
    free = threading.Event()

    async def leave() -> None:
        with anyio.move_on_after(0.02):
            await threads.run(_until(free))

    anyio.run(leave)

    async def again() -> int:
        return await threads.run(lambda: 7)

    assert anyio.run(again) == 7
    free.set()
