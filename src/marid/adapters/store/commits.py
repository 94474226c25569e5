"""Group commit: whoever comes while the disk is busy is written together with the others who came."""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class _Ticket(Generic[T]):
    """One who waits: woken when all is done or, with `done` still false, to do the work for those who wait now."""

    def __init__(self, item: T) -> None:
        self.item = item
        self.done = False
        self.gate = Lock()
        self.gate.acquire()


class Commits(Generic[T]):
    """Calls `commit`, by one thread at a time, with the items of all threads that wait, in the order of their coming.

    `commit` must not raise: what becomes of an item stands in the item.
    """

    def __init__(self, commit: Callable[[Sequence[T]], None]) -> None:
        self._commit = commit
        self._lock = Lock()
        self._queue: list[_Ticket[T]] = []
        self._busy = False
        self._crowd = 1
        self._seconds = 0.0
        self._gathering = False
        self._all_here = Lock()
        self._all_here.acquire()

    def submit(self, item: T) -> None:
        """Returns when the item has been through `commit`."""
        ticket = _Ticket(item)
        with self._lock:
            self._queue.append(ticket)
            if self._gathering and len(self._queue) >= self._crowd:
                self._gathering = False
                self._all_here.release()
            leads = not self._busy
            self._busy = True
        if not leads:
            ticket.gate.acquire()
            if ticket.done:
                return
        self._lead(ticket)

    def _lead(self, own: _Ticket[T]) -> None:
        self._gather()
        with self._lock:
            batch, self._queue = self._queue, []
        begin = time.perf_counter()
        try:
            self._commit([ticket.item for ticket in batch])
        finally:
            self._seconds = time.perf_counter() - begin
            self._finish(batch, own)

    def _gather(self) -> None:
        """Those who were served a moment ago are about to come again: a short wait saves the disk a second turn."""
        with self._lock:
            waits = self._gathering = self._crowd > 2 and len(self._queue) < self._crowd
        if waits and not self._all_here.acquire(timeout=min(self._seconds / 2, 0.005)):
            with self._lock:
                if not self._gathering:  # the last one came just now
                    self._all_here.acquire()
                self._gathering = False

    def _finish(self, batch: list[_Ticket[T]], own: _Ticket[T]) -> None:
        with self._lock:
            self._crowd = len(batch) + len(self._queue)
            heir = self._queue[0] if self._queue else None
            self._busy = heir is not None
        if heir is not None:
            heir.gate.release()
        for ticket in batch:
            ticket.done = True
            if ticket is not own:
                ticket.gate.release()
