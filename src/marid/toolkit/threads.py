"""A bounded pool of daemon threads: a program that is interrupted does not wait for one that sleeps."""

import os
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, Generic, TypeVar, cast

import anyio
from anyio import RunFinishedError
from anyio.lowlevel import EventLoopToken, current_token

from marid.core.errors import Unavailable

T = TypeVar("T")


class _Job(Generic[T]):
    """One piece of work. Whoever waits may set `given_up`; the thread that takes it sets the rest."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.token: EventLoopToken = current_token()
        self.told = anyio.Event()
        self.started = 0.0
        self.finished = False
        self.given_up = False
        self.result: T | None = None
        self.error: BaseException | None = None

    def perform(self) -> None:
        """Keep what it comes to; raised is it where it is awaited."""
        try:
            self.result = self.work()
        except BaseException as error:  # noqa: BLE001 (see above)
            self.error = error

    def tell(self) -> None:
        """Wake whoever waits, unless the loop has ended."""
        with suppress(RunFinishedError, RuntimeError):
            self.token.backend_class.run_sync_soon(self.told.set, (), self.token.native_token)


class Threads:
    """At most `most` at work. One that was given up makes room for another, until `most_lost` of them hang."""

    def __init__(self, most: int | None = None, *, most_lost: int = 64) -> None:
        self.most = min(32, 4 + (os.cpu_count() or 1)) if most is None else most
        self._most_lost = most_lost
        self._jobs: SimpleQueue[_Job[Any]] = SimpleQueue()
        self._lock = Lock()
        self._waiting = 0
        self._idle = 0
        self._members = 0
        self._lost = 0

    async def run(self, work: Callable[[], T], seconds: float | None = None) -> T:
        """What `work` gives. Its time counts from when a thread took it; after it, or cancelled, it is left alone.

        Raises: what `work` raises, TimeoutError, Unavailable when too many hang.
        """
        job = _Job(work)
        with self._lock:
            if self._lost >= self._most_lost:
                raise Unavailable("too many calls hang: start the program anew")
            self._waiting += 1
            self._grow()
        self._jobs.put(job)  # the lock is free by now, or the thread that wakes would stop at it
        try:
            await _finished(job, seconds)
        finally:
            self._leave(job)
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def _grow(self) -> None:
        """One more thread if there is more to do than hands, and room. The lock is held."""
        if self._idle < self._waiting and self._members < self.most:
            self._members += 1
            Thread(target=self._serve, daemon=True, name="marid tool").start()

    def _leave(self, job: "_Job[Any]") -> None:
        """A job that is not begun is skipped; the thread of one that is not finished is no member any more."""
        with self._lock:
            if job.finished:
                return
            job.given_up = True
            if job.started:
                self._lost += 1
                self._members -= 1
                self._grow()

    def _serve(self) -> None:
        """The life of a thread; it ends if its job was given up, since another has taken its place."""
        with self._lock:
            self._idle += 1
        while True:
            job = self._jobs.get()
            with self._lock:
                self._waiting -= 1
                if job.given_up:
                    continue
                self._idle -= 1
                job.started = monotonic()
            job.perform()
            with self._lock:
                job.finished = True
                if job.given_up:
                    self._lost -= 1
                    return
                self._idle += 1
            job.tell()
            del job  # it may hold a large result


async def _finished(job: "_Job[Any]", seconds: float | None) -> None:
    if seconds is None:
        await job.told.wait()
        return
    left = seconds
    while left > 0:
        with anyio.move_on_after(left):
            await job.told.wait()
            return
        left = job.started + seconds - monotonic() if job.started else seconds
    raise TimeoutError
