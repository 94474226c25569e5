"""Group commit."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

import pytest

from marid.adapters.store.group_commit import CommitWaiter, GroupCommit


class Number(CommitWaiter):
    """What is committed here."""

    def __init__(self, value: int) -> None:
        self.value = value


def values(turns: Sequence[Number]) -> list[int]:
    return [turn.value for turn in turns]


def test_who_comes_while_the_disk_is_busy_is_written_together() -> None:
    batches: list[list[int]] = []
    busy, free = threading.Event(), threading.Event()

    def commit(items: Sequence[Number]) -> None:
        batches.append(sorted(values(items)))
        busy.set()
        free.wait(30)

    commits = GroupCommit(commit)
    first = threading.Thread(target=commits.submit, args=(Number(0),))
    first.start()
    busy.wait(30)
    rest = [threading.Thread(target=commits.submit, args=(Number(number),)) for number in range(1, 8)]
    for thread in rest:
        thread.start()
    while len(commits._queue) < 7:  # pyright: ignore[reportPrivateUsage]
        threading.Event().wait(0.001)
    free.set()
    for thread in [first, *rest]:
        thread.join()
    assert batches == [[0], [1, 2, 3, 4, 5, 6, 7]]
    commits.submit(Number(8))
    assert batches[-1] == [8]


def test_one_who_comes_while_another_is_written_goes_on_at_once() -> None:
    batches: list[list[int]] = []
    busy, free = threading.Event(), threading.Event()

    def commit(items: Sequence[Number]) -> None:
        batches.append(values(items))
        busy.set()
        free.wait(30)

    commits = GroupCommit(commit)
    threads = [threading.Thread(target=commits.submit, args=(Number(0),))]
    threads[0].start()
    busy.wait(30)
    threads.append(threading.Thread(target=commits.submit, args=(Number(1),)))
    threads[1].start()
    while not commits._queue:  # pyright: ignore[reportPrivateUsage]
        threading.Event().wait(0.001)
    free.set()
    for thread in threads:
        thread.join()
    assert batches == [[0], [1]]


def expecting(commit: Callable[[Sequence[Number]], None], crowd: int, seconds: float) -> GroupCommit[Number]:
    """As after so many were served together, by a disk that took so long."""
    commits = GroupCommit(commit, longest_wait=seconds)
    commits._expected_waiters, commits._last_duration = crowd, seconds  # pyright: ignore[reportPrivateUsage]
    return commits


def test_the_last_of_those_who_come_again_does_the_work_for_all() -> None:
    done: list[tuple[list[int], str]] = []
    commits = expecting(lambda items: done.append((values(items), threading.current_thread().name)), 4, 30.0)
    threads = [threading.Thread(target=commits.submit, args=(Number(number),), name=str(number)) for number in range(4)]
    for number, thread in enumerate(threads):
        thread.start()
        while number < 3 and len(commits._queue) <= number:  # pyright: ignore[reportPrivateUsage]
            threading.Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert done == [([0, 1, 2, 3], "3")]


def test_one_who_comes_alone_after_a_crowd_waits_a_moment_only() -> None:
    done: list[list[int]] = []
    commits = expecting(lambda items: done.append(values(items)), 8, 0.01)
    commits.submit(Number(1))
    commits.submit(Number(2))
    assert done == [[1], [2]]


@pytest.mark.parametrize("appointed", [True, False])
def test_whoever_counted_on_one_who_was_interrupted_is_served_by_the_next(*, appointed: bool) -> None:
    done: list[list[int]] = []
    commits = expecting(lambda items: done.append(values(items)), 8, 30.0)
    gone = Number(0)
    gone.is_leader = commits._busy = appointed  # pyright: ignore[reportPrivateUsage]
    commits._queue.append(gone)  # pyright: ignore[reportPrivateUsage]
    threads = [threading.Thread(target=commits.submit, args=(Number(number),)) for number in (1, 2)]
    for number, thread in enumerate(threads):
        thread.start()
        while len(commits._queue) < number + 2:  # pyright: ignore[reportPrivateUsage]
            threading.Event().wait(0.001)
    commits._remove_waiter(gone)  # pyright: ignore[reportPrivateUsage]
    for thread in threads:
        thread.join()
    assert done == [[1, 2]]
    commits._remove_waiter(gone)  # pyright: ignore[reportPrivateUsage]
    commits.submit(Number(3))
    assert done[1:] == [[3]]


def test_whoever_comes_first_while_the_disk_is_busy_sees_to_it_that_all_are_served() -> None:
    done: list[list[int]] = []
    busy, free = threading.Event(), threading.Event()

    def commit(items: Sequence[Number]) -> None:
        busy.set()
        free.wait(30)
        done.append(values(items))

    commits = expecting(commit, 2, 0.01)
    threads = [threading.Thread(target=commits.submit, args=(Number(number),)) for number in range(4)]
    threads[0].start()
    busy.wait(30)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(commits._queue) < number:  # pyright: ignore[reportPrivateUsage]
            threading.Event().wait(0.001)
    # The disk is free again, and nobody else comes.
    free.set()
    for thread in threads:
        thread.join()
    assert done == [[0], [1, 2, 3]]


WAITING = """
import threading, time
from marid.adapters.store.group_commit import GroupCommit, CommitWaiter
free = threading.Event()
commits = GroupCommit(lambda _waiters: free.wait(30))
threads = [threading.Thread(target=commits.submit, args=(CommitWaiter(),)) for _ in range(3)]
for thread in threads:
    thread.start()
while len(commits._queue) < 2:
    time.sleep(0.001)
begun = time.process_time()
free.wait(0.5)
print(time.process_time() - begun)
free.set()
for thread in threads:
    thread.join()
"""


def test_waiting_for_a_slow_disk_costs_nothing() -> None:
    """In a process of its own: what other threads do here would count as well."""
    done = subprocess.run([sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=60, check=True)
    assert float(done.stdout) < 0.1


INTERRUPTED = """
import os, signal, threading, time
from marid.adapters.store.group_commit import GroupCommit, CommitWaiter
busy, free = threading.Event(), threading.Event()
def commit(turns):
    busy.set()
    free.wait(30)
commits = GroupCommit(commit)
other = threading.Thread(target=commits.submit, args=(CommitWaiter(),))
other.start()
busy.wait(30)
def interrupt():
    while not commits._queue:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    commits.submit(CommitWaiter())
except KeyboardInterrupt:
    print("interrupted", len(commits._queue))
free.set()
other.join()
commits.submit(CommitWaiter())
print("served")
"""


def test_one_who_is_interrupted_while_it_waits_is_not_waited_for() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "interrupted 0\nserved\n"


def test_eight_who_never_stop_are_all_served() -> None:
    done: list[int] = []
    commits = GroupCommit[Number](lambda items: done.extend(values(items)))

    def work(name: int) -> None:
        for number in range(100):
            commits.submit(Number(100 * name + number))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(800))
    for name in range(8):
        own = [number for number in done if number // 100 == name]
        assert own == sorted(own)


def test_a_bug_in_the_commit_blocks_nobody() -> None:
    def commit(items: Sequence[Number]) -> None:
        if 13 in values(items):
            raise ValueError("bug")

    commits = GroupCommit(commit)
    with pytest.raises(ValueError, match="bug"):
        commits.submit(Number(13))
    good = Number(1)
    commits.submit(good)
    assert good.is_served
