"""Group commit."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from fakes.stores import run_in_threads
from marid.adapters.store.append_log import CommitWaiter, GroupCommit


class Number(CommitWaiter):
    """A request to commit a number."""

    def __init__(self, value: int) -> None:
        self.value = value


class SlowDisk:
    """Keeps what is committed, by batch, and is busy until it is freed."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.busy, self.free = threading.Event(), threading.Event()

    def commit(self, items: Sequence[Number]) -> None:
        self.batches.append(values(items))
        self.busy.set()
        self.free.wait(30)


def values(items: Sequence[Number]) -> list[int]:
    return [item.value for item in items]


def queue(commits: GroupCommit[Number], *numbers: int) -> list[threading.Thread]:
    """Submit each number in a thread of that name, and wait until it is in the queue."""
    threads: list[threading.Thread] = []
    for number in numbers:
        length = len(commits._queue)  # pyright: ignore[reportPrivateUsage]
        threads.append(threading.Thread(target=commits.submit, args=(Number(number),), name=str(number)))
        threads[-1].start()
        while len(commits._queue) <= length:  # pyright: ignore[reportPrivateUsage]
            threading.Event().wait(0.001)
    return threads


def expecting(commit: Callable[[Sequence[Number]], None], waiters: int, seconds: float) -> GroupCommit[Number]:
    """As after a commit of this many waiters that took this long."""
    commits = GroupCommit(commit, longest_wait=seconds)
    commits._expected_waiters, commits._last_duration = waiters, seconds  # pyright: ignore[reportPrivateUsage]
    return commits


@pytest.mark.parametrize("later", [[1], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7]])
@pytest.mark.parametrize("crowd", [1, 2])
def test_requests_that_come_while_the_disk_is_busy_are_written_together(later: list[int], crowd: int) -> None:
    disk = SlowDisk()
    commits = expecting(disk.commit, crowd, 0.01)
    first = threading.Thread(target=commits.submit, args=(Number(0),))
    first.start()
    disk.busy.wait(30)
    rest = queue(commits, *later)
    disk.free.set()
    for thread in [first, *rest]:
        thread.join()
    assert disk.batches == [[0], later]
    commits.submit(Number(8))
    assert disk.batches[-1] == [8]


def test_the_last_of_those_who_come_again_commits_for_all() -> None:
    done: list[tuple[list[int], str]] = []
    commits = expecting(lambda items: done.append((values(items), threading.current_thread().name)), 4, 30.0)
    threads = queue(commits, 0, 1, 2)
    commits.submit(Number(3))
    for thread in threads:
        thread.join()
    assert done == [([0, 1, 2, 3], threading.current_thread().name)]


def test_one_that_comes_alone_after_a_crowd_waits_only_for_a_moment() -> None:
    done: list[list[int]] = []
    commits = expecting(lambda items: done.append(values(items)), 8, 0.01)
    commits.submit(Number(1))
    commits.submit(Number(2))
    assert done == [[1], [2]]


@pytest.mark.parametrize("appointed", [True, False])
def test_after_an_interrupted_leader_the_next_one_commits(*, appointed: bool) -> None:
    done: list[list[int]] = []
    commits = expecting(lambda items: done.append(values(items)), 8, 30.0)
    gone = Number(0)
    gone.is_leader = commits._busy = appointed  # pyright: ignore[reportPrivateUsage]
    commits._queue.append(gone)  # pyright: ignore[reportPrivateUsage]
    threads = queue(commits, 1, 2)
    commits._remove_waiter(gone)  # pyright: ignore[reportPrivateUsage]
    for thread in threads:
        thread.join()
    assert done == [[1, 2]]
    commits._remove_waiter(gone)  # pyright: ignore[reportPrivateUsage]
    commits.submit(Number(3))
    assert done[1:] == [[3]]


WAITING = """
import threading, time
from marid.adapters.store.append_log import GroupCommit, CommitWaiter
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
    """In another process, since the time of other threads here would count."""
    done = subprocess.run([sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=60, check=True)
    assert float(done.stdout) < 0.1


INTERRUPTED = """
import os, signal, threading, time
from marid.adapters.store.append_log import GroupCommit, CommitWaiter
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


def test_an_interrupted_waiter_leaves_the_queue() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "interrupted 0\nserved\n"


def test_eight_threads_without_a_pause_are_all_served() -> None:
    done: list[int] = []
    commits = GroupCommit[Number](lambda items: done.extend(values(items)))

    def work(name: int) -> None:
        for number in range(100):
            commits.submit(Number(100 * name + number))

    run_in_threads(*(partial(work, name) for name in range(8)))
    assert sorted(done) == list(range(800))
    for name in range(8):
        own = [number for number in done if number // 100 == name]
        assert own == sorted(own)


def test_a_bug_in_the_commit_does_not_block_later_requests() -> None:
    def commit(items: Sequence[Number]) -> None:
        if 13 in values(items):
            raise ValueError("bug")

    commits = GroupCommit(commit)
    with pytest.raises(ValueError, match="bug"):
        commits.submit(Number(13))
    good = Number(1)
    commits.submit(good)
    assert good.is_served
