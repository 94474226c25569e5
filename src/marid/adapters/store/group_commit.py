"""Group commit: requests that arrive while the disk is busy are written together."""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar


class CommitWaiter:
    """A waiting request; its thread is woken when it is served, or to serve all that wait."""

    is_served = False
    is_leader = False
    gate: "Lock | None" = None


T = TypeVar("T", bound=CommitWaiter)


class GroupCommit(Generic[T]):
    """Calls `commit` in one thread at a time, with the waiters of all threads in the order they came.

    Threads that were served together usually come back together. So the last of them commits, which needs no wake-up;
    the first waits only for a moment and commits itself if the others stay away. `commit` must not raise: it stores the
    result in each waiter.
    """

    def __init__(self, commit: Callable[[Sequence[T]], None], longest_wait: float = 0.005) -> None:
        self._commit = commit
        self._longest_wait = longest_wait
        self._lock = Lock()
        self._queue: list[T] = []
        self._busy = False
        self._expected_waiters = 1
        self._last_duration = 0.0

    def submit(self, waiter: T) -> None:
        """Return after `commit` has handled the waiter."""
        with self._lock:
            self._queue.append(waiter)
            leads = not self._busy and (self._expected_waiters <= 2 or len(self._queue) >= self._expected_waiters)
            batch = self._take_batch() if leads else []
            gate = waiter.gate = None if leads else _locked_gate()
        if gate is not None:
            batch = self._wait(waiter, gate)
        if batch:
            self._commit_batch(batch, waiter)

    def _take_batch(self) -> list[T]:
        """All waiters, for the thread that will commit. Needs the lock."""
        self._busy = True
        batch, self._queue = self._queue, []
        return batch

    def _wait(self, waiter: T, gate: Lock) -> list[T]:
        """Wait until another thread has served the waiter, or return the batch that this thread must commit."""
        try:
            while True:
                woken = gate.acquire(timeout=self._wait_timeout(waiter))
                if waiter.is_served:
                    return []
                with self._lock:
                    if waiter.is_leader or (not woken and self._is_next(waiter)):
                        return self._take_batch()
        except BaseException:
            self._remove_waiter(waiter)
            raise

    def _wait_timeout(self, waiter: T) -> float:
        """The first in the queue waits a moment for the others, the others until they are woken."""
        with self._lock:
            return min(self._last_duration, self._longest_wait) if self._is_next(waiter) else -1

    def _is_next(self, waiter: T) -> bool:
        return not self._busy and self._queue[:1] == [waiter]

    def _remove_waiter(self, waiter: T) -> None:
        """This thread was interrupted: the next takes over."""
        with self._lock:
            if waiter in self._queue:
                self._queue.remove(waiter)
                if waiter.is_leader or not self._busy:
                    self._appoint_leader()

    def _appoint_leader(self) -> None:
        """Let the first waiter serve all. Needs the lock."""
        self._busy = bool(self._queue)
        if self._queue:
            self._queue[0].is_leader = True
            _wake(self._queue[0])

    def _commit_batch(self, batch: list[T], own: T) -> None:
        begin = time.perf_counter()
        try:
            self._commit(batch)
        finally:
            self._last_duration = time.perf_counter() - begin
            self._finish(batch, own)

    def _finish(self, batch: list[T], own: T) -> None:
        with self._lock:
            for waiter in batch:
                waiter.is_served = True
            self._expected_waiters = len(batch) + len(self._queue)
            self._busy = False
            if self._expected_waiters <= 2:
                # Two need not wait for each other: one computes while the other is written.
                self._appoint_leader()
            elif self._queue:
                _wake(self._queue[0])
        for waiter in batch:
            if waiter is not own:
                _wake(waiter)


def _wake(waiter: CommitWaiter) -> None:
    if waiter.gate is not None and waiter.gate.locked():
        waiter.gate.release()


def _locked_gate() -> Lock:
    gate = Lock()
    gate.acquire()
    return gate
