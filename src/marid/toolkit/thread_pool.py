"""A bounded pool of daemon threads: a program that is interrupted does not wait for one that sleeps."""

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, Generic, TypeVar, cast

import anyio
from anyio import RunFinishedError
from anyio.lowlevel import EventLoopToken, checkpoint, current_token

from marid.core.errors import Unavailable

T = TypeVar("T")

# How often the timer checks, in seconds, and after how many checks of nothing it stops.
_TICK = 0.05
_IDLE_TICKS = 40


@dataclass(eq=False)
class _Job(Generic[T]):
    """One piece of work. The waiting task may set `abandoned`; the thread that takes it sets the rest."""

    work: Callable[[], T]
    timeout: float | None
    token: EventLoopToken = field(default_factory=current_token)
    wakeup: anyio.Event = field(default_factory=anyio.Event)
    started: float = 0.0
    finished: bool = False
    abandoned: bool = False
    result: T | None = None
    error: BaseException | None = None

    def wake_waiter(self) -> None:
        """Wake the waiting task, unless the loop has ended."""
        with suppress(RunFinishedError, RuntimeError):
            self.token.backend_class.run_sync_soon(self.wakeup.set, (), self.token.native_token)


class DaemonThreadPool:
    """At most `max_threads` at work. An abandoned one makes room for another, until `max_abandoned` of them hang.

    The thread that rested last works next: its memory is still warm.
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
        """The result of `work`. Its time counts from when a thread took it; late or cancelled work is abandoned.

        Raises: what `work` raises, TimeoutError, Unavailable when too many hang.
        """
        if self._abandoned_count >= self._max_abandoned:
            raise Unavailable("too many calls hang: restart the program")
        return await self._execute(work, timeout)

    async def _execute(self, work: Callable[[], T], timeout: float | None) -> T:  # noqa: ASYNC109 - as above
        job = _Job(work, timeout)
        with self._lock:
            if timeout is not None:
                self._start_timing(job)
            idle = self._idle.pop() if self._idle else None
            if idle is None:
                self._backlog.append(job)
                self._grow()
        if idle is not None:
            idle.put(job)  # the lock is free by now, or the thread that wakes would stop at it
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
        """The result of `work`, also for a caller that is cancelled already, and when too many others hang."""
        done: list[T] = []
        with anyio.CancelScope(shield=True):
            done.append(await self._execute(work, timeout))
        return done[0]

    def _grow(self) -> None:
        """One more thread if something waits and there is room. The lock is held."""
        if self._backlog and self._thread_count < self.max_threads:
            self._thread_count += 1
            Thread(target=self._run_worker, daemon=True, name="marid tool").start()

    def _start_timing(self, job: _Job[Any]) -> None:
        """Watch its time. One thread for all: a timer of its own would cost a call half as much again."""
        self._timed_jobs.add(job)
        if self._timer is None:
            self._timer = Thread(target=self._run_timer, daemon=True, name="marid clock")
            self._timer.start()

    def _run_timer(self) -> None:
        """Wake the tasks whose work takes too long, until there has been nothing to time for a while."""
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

    def _abandon(self, job: _Job[Any]) -> None:
        """Skip a job that has not begun; give up the thread of one that is not finished."""
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
        """The life of a thread; it ends if its job was abandoned, since another has taken its place."""
        queue: SimpleQueue[_Job[Any]] = SimpleQueue()
        job = self._next_job(queue) or queue.get()
        while self._run_job(job):
            following = self._next_job(queue)
            job.wake_waiter()
            del job  # it may hold a large result
            job = following or queue.get()

    def _next_job(self, queue: SimpleQueue[_Job[Any]]) -> _Job[Any] | None:
        """The job that waits longest; if none does, None: the next one comes through the queue."""
        with self._lock:
            if self._backlog:
                return self._backlog.popleft()
            self._idle.append(queue)
            return None

    def _run_job(self, job: _Job[Any]) -> bool:
        """Do it, unless it was abandoned; whether this thread is still in the pool."""
        with self._lock:
            if job.abandoned:
                return True
            job.started = monotonic()
        try:
            job.result = job.work()
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            job.error = error
        with self._lock:
            job.finished = True
            self._timed_jobs.discard(job)
            if job.abandoned:
                self._abandoned_count -= 1
            return not job.abandoned
