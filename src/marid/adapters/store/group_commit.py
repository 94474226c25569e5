"""Group commit: whoever comes while the disk is busy is written together with the others who came."""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar


class CommitWaiter:
    """Somebody who waits; woken when it is served, or appointed to serve all those who wait now."""

    is_served = False
    is_leader = False
    gate: "Lock | None" = None


T = TypeVar("T", bound=CommitWaiter)


class GroupCommit(Generic[T]):
    """Calls `commit`, by one thread at a time, with the waiters of all threads that wait, in the order of their coming.

    Those who were served together are about to come again together. So the last of them does the work, which wakes
    nobody, and the first waits a moment only: when the others stay away, it does the work itself. `commit` must not
    raise: what becomes of a waiter stands in it.
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
        """Returns when the waiter has been through `commit`."""
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
        """Everybody who waits, by the one who will do the work. The lock is held."""
        self._busy = True
        batch, self._queue = self._queue, []
        return batch

    def _wait(self, waiter: T, gate: Lock) -> list[T]:
        """Until the work is done by somebody: nothing; or until it is for us to do: for whom."""
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
        """Who is next waits a moment for the others, everybody else until somebody wakes it."""
        with self._lock:
            return min(self._last_duration, self._longest_wait) if self._is_next(waiter) else -1

    def _is_next(self, waiter: T) -> bool:
        return not self._busy and self._queue[:1] == [waiter]

    def _remove_waiter(self, waiter: T) -> None:
        """Somebody was interrupted: the next takes its place."""
        with self._lock:
            if waiter in self._queue:
                self._queue.remove(waiter)
                if waiter.is_leader or not self._busy:
                    self._appoint_leader()

    def _appoint_leader(self) -> None:
        """Let the first who waits serve all, if there is one. The lock is held."""
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
                # Two need not wait for each other: the one works while the other is written.
                self._appoint_leader()
            elif self._queue:
                _wake(self._queue[0])
        for waiter in batch:
            if waiter is not own:
                _wake(waiter)


def _wake(waiter: CommitWaiter) -> None:
    """Whoever is awake already has yet to look at what has changed."""
    if waiter.gate is not None and waiter.gate.locked():
        waiter.gate.release()


def _locked_gate() -> Lock:
    gate = Lock()
    gate.acquire()
    return gate
