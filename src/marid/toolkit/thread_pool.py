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
from anyio.lowlevel import EventLoopToken, checkpoint, current_token

from marid.core.errors import Unavailable

T = TypeVar("T")

# How often the clock is looked at, in seconds, and after how many looks at nothing it is stopped.
_TICK = 0.05
_IDLE_TICKS = 40


class _Job(Generic[T]):
    """One piece of work. Whoever waits may set `given_up`; the thread that takes it sets the rest."""

    def __init__(self, work: Callable[[], T], seconds: float | None) -> None:
        self.work = work
        self.timeout = seconds
        self.token: EventLoopToken = current_token()
        self.wakeup = anyio.Event()
        self.started = 0.0
        self.finished = False
        self.abandoned = False
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Keep what it comes to; raised is it where it is awaited."""
        try:
            self.result = self.work()
        except BaseException as error:  # noqa: BLE001 (see above)
            self.error = error

    def wake_waiter(self) -> None:
        """Wake whoever waits, unless the loop has ended."""
        with suppress(RunFinishedError, RuntimeError):
            self.token.backend_class.run_sync_soon(self.wakeup.set, (), self.token.native_token)


class DaemonThreadPool:
    """At most `most` at work. One that was given up makes room for another, until `most_lost` of them hang.

    The thread that rested last works next: it is the one whose memory is still warm.
    """

    def __init__(self, max_threads: int | None = None, *, max_abandoned: int = 64) -> None:
        self.max_threads = min(32, 4 + (os.cpu_count() or 1)) if max_threads is None else max_threads
        self._max_abandoned = max_abandoned
        self._lock = Lock()
        self._backlog: deque[_Job[Any]] = deque()
        self._idle: list[SimpleQueue[_Job[Any]]] = []
        self._thread_count = 0
        self._abandoned_count = 0
        self._timed_jobs: set[_Job[Any]] = set()
        self._timer: Thread | None = None

    async def run(self, work: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ASYNC109 - it counts from when a thread takes the work
        """What `work` gives. Its time counts from when a thread took it; after it, or cancelled, it is left alone.

        Raises: what `work` raises, TimeoutError, Unavailable when too many hang.
        """
        job = _Job(work, timeout)
        with self._lock:
            if self._abandoned_count >= self._max_abandoned:
                raise Unavailable("too many calls hang: start the program anew")
            if timeout is not None:
                self._start_timing(job)
            desk = self._idle.pop() if self._idle else None
            if desk is None:
                self._backlog.append(job)
                self._grow()
        if desk is not None:
            desk.put(job)  # the lock is free by now, or the thread that wakes would stop at it
        try:
            await job.wakeup.wait()
        finally:
            self._abandon(job)
        if not job.finished:
            raise TimeoutError
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    async def run_shielded(self, work: Callable[[], T]) -> T:
        """The result of `work`. A cancelled caller waits for its end, so that nothing is left half done."""
        await checkpoint()
        return await self.run_to_end(work)

    async def run_to_end(self, work: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ASYNC109 - as above
        """The result of `work`, also for a caller that is cancelled already."""
        done: list[T] = []
        with anyio.CancelScope(shield=True):
            done.append(await self.run(work, timeout))
        return done[0]

    def _grow(self) -> None:
        """One more thread if something waits and there is room. The lock is held."""
        if self._backlog and self._thread_count < self.max_threads:
            self._thread_count += 1
            Thread(target=self._run_worker, daemon=True, name="marid tool").start()

    def _start_timing(self, job: "_Job[Any]") -> None:
        """Have an eye on its time. One thread for all: a timer of its own would cost a call half as much again."""
        self._timed_jobs.add(job)
        if self._timer is None:
            self._timer = Thread(target=self._run_timer, daemon=True, name="marid clock")
            self._timer.start()

    def _run_timer(self) -> None:
        """Wake those whose work takes too long, until there has been nothing to time for a while."""
        quiet = 0
        while quiet < _IDLE_TICKS:
            sleep(_TICK)
            now = monotonic()
            with self._lock:
                quiet = 0 if self._timed_jobs else quiet + 1
                late = [job for job in self._timed_jobs if job.started and now > job.started + (job.timeout or 0)]
                self._timed_jobs.difference_update(late)
                if quiet == _IDLE_TICKS:
                    self._timer = None
            for job in late:
                job.wake_waiter()

    def _abandon(self, job: "_Job[Any]") -> None:
        """A job that is not begun is skipped; the thread of one that is not finished is no member any more."""
        with self._lock:
            if job.finished:
                return
            self._timed_jobs.discard(job)
            job.abandoned = True
            if job.started:
                self._abandoned_count += 1
                self._thread_count -= 1
                self._grow()

    def _run_worker(self) -> None:
        """The life of a thread; it ends if its job was given up, since another has taken its place."""
        desk: SimpleQueue[_Job[Any]] = SimpleQueue()
        job = self._next_job(desk) or desk.get()
        while self._run_job(job):
            following = self._next_job(desk)
            job.wake_waiter()
            del job  # it may hold a large result
            job = following or desk.get()

    def _next_job(self, desk: "SimpleQueue[_Job[Any]]") -> "_Job[Any] | None":
        """What waits longest; None when nothing does, and then the next job comes to the desk."""
        with self._lock:
            if self._backlog:
                return self._backlog.popleft()
            self._idle.append(desk)
            return None

    def _run_job(self, job: "_Job[Any]") -> bool:
        """Do it, unless nobody waits for it; whether this thread is still a member."""
        with self._lock:
            if job.abandoned:
                return True
            job.started = monotonic()
        job.run()
        with self._lock:
            job.finished = True
            self._timed_jobs.discard(job)
            if job.abandoned:
                self._abandoned_count -= 1
            return not job.abandoned
