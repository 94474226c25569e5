"""A bounded pool of daemon threads: a program that is interrupted does not wait for one that sleeps."""

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, Generic, TypeVar, cast

import anyio
from anyio import RunFinishedError
from anyio.lowlevel import EventLoopToken, current_token

from marid.core.errors import Unavailable

T = TypeVar("T")

# How often the clock is looked at, in seconds, and after how many looks at nothing it is stopped.
_TICK = 0.05
_QUIET = 40


class _Job(Generic[T]):
    """One piece of work. Whoever waits may set `given_up`; the thread that takes it sets the rest."""

    def __init__(self, work: Callable[[], T], seconds: float | None) -> None:
        self.work = work
        self.seconds = seconds
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
    """At most `most` at work. One that was given up makes room for another, until `most_lost` of them hang.

    The thread that rested last works next: it is the one whose memory is still warm.
    """

    def __init__(self, most: int | None = None, *, most_lost: int = 64) -> None:
        self.most = min(32, 4 + (os.cpu_count() or 1)) if most is None else most
        self._most_lost = most_lost
        self._lock = Lock()
        self._backlog: deque[_Job[Any]] = deque()
        self._resting: list[SimpleQueue[_Job[Any]]] = []
        self._members = 0
        self._lost = 0
        self._clocked: set[_Job[Any]] = set()
        self._clock: Thread | None = None

    async def run(self, work: Callable[[], T], seconds: float | None = None) -> T:
        """What `work` gives. Its time counts from when a thread took it; after it, or cancelled, it is left alone.

        Raises: what `work` raises, TimeoutError, Unavailable when too many hang.
        """
        job = _Job(work, seconds)
        with self._lock:
            if self._lost >= self._most_lost:
                raise Unavailable("too many calls hang: start the program anew")
            if seconds is not None:
                self._time(job)
            desk = self._resting.pop() if self._resting else None
            if desk is None:
                self._backlog.append(job)
                self._grow()
        if desk is not None:
            desk.put(job)  # the lock is free by now, or the thread that wakes would stop at it
        try:
            await job.told.wait()
        finally:
            self._leave(job)
        if not job.finished:
            raise TimeoutError
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def _grow(self) -> None:
        """One more thread if something waits and there is room. The lock is held."""
        if self._backlog and self._members < self.most:
            self._members += 1
            Thread(target=self._serve, daemon=True, name="marid tool").start()

    def _time(self, job: "_Job[Any]") -> None:
        """Have an eye on its time. One thread for all: a timer of its own would cost a call half as much again."""
        self._clocked.add(job)
        if self._clock is None:
            self._clock = Thread(target=self._keep_time, daemon=True, name="marid clock")
            self._clock.start()

    def _keep_time(self) -> None:
        """Wake those whose work takes too long, until there has been nothing to time for a while."""
        quiet = 0
        while quiet < _QUIET:
            sleep(_TICK)
            now = monotonic()
            with self._lock:
                quiet = 0 if self._clocked else quiet + 1
                late = [job for job in self._clocked if job.started and now > job.started + (job.seconds or 0)]
                self._clocked.difference_update(late)
                if quiet == _QUIET:
                    self._clock = None
            for job in late:
                job.tell()

    def _leave(self, job: "_Job[Any]") -> None:
        """A job that is not begun is skipped; the thread of one that is not finished is no member any more."""
        with self._lock:
            if job.finished:
                return
            self._clocked.discard(job)
            job.given_up = True
            if job.started:
                self._lost += 1
                self._members -= 1
                self._grow()

    def _serve(self) -> None:
        """The life of a thread; it ends if its job was given up, since another has taken its place."""
        desk: SimpleQueue[_Job[Any]] = SimpleQueue()
        job = self._next(desk) or desk.get()
        while self._done(job):
            following = self._next(desk)
            job.tell()
            del job  # it may hold a large result
            job = following or desk.get()

    def _next(self, desk: "SimpleQueue[_Job[Any]]") -> "_Job[Any] | None":
        """What waits longest; None when nothing does, and then the next job comes to the desk."""
        with self._lock:
            if self._backlog:
                return self._backlog.popleft()
            self._resting.append(desk)
            return None

    def _done(self, job: "_Job[Any]") -> bool:
        """Do it, unless nobody waits for it; whether this thread is still a member."""
        with self._lock:
            if job.given_up:
                return True
            job.started = monotonic()
        job.perform()
        with self._lock:
            job.finished = True
            self._clocked.discard(job)
            if job.given_up:
                self._lost -= 1
            return not job.given_up
