"""Run functions in processes that may be killed: a parser of hostile input can hang, crash or use up the memory.

Then only that call fails, and the next one gets a new process.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, ParamSpec, TypeVar
from weakref import finalize

from marid.adapters.workers.child import DONE, FAILED
from marid.adapters.workers.worker import Worker, WorkerAnswer, WorkerCall, WorkerLimits
from marid.core.errors import FAMILIES, Exhausted, MaridError

P = ParamSpec("P")
T = TypeVar("T")

# How much a worker parses in the time that starting one takes, and how much is worth a separate message.
_BYTES_WORTH_A_WORKER = 512 * 1024
_BYTES_WORTH_A_MESSAGE = 128 * 1024


class ProcessWorkers:
    """Starts workers when there are calls; thread-safe; `close` leaves no process."""

    def __init__(self, *, limits: WorkerLimits | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._limits = limits or WorkerLimits()
        self._cores = self._limits.workers or os.cpu_count() or 1
        self._environment = environment or {}
        # Two per core, so that calls that hang until their timeout do not keep the others from running.
        self._slots = BoundedSemaphore(2 * self._cores)
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        finalize(self, _dispose_all, self._idle)  # if `close` is not called

    def close(self) -> None:
        """Kill every worker, also busy ones; a later call starts new ones."""
        with self._lock:
            _dispose_all(self._idle)
            for worker in self._busy:
                worker.kill()  # the thread that uses it disposes of it

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        answers = self._ask(work, [(args, kwargs)])
        outcome = _unwrap_answer(answers[0] if answers else None, self._limits)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        sizes = [_BYTES_WORTH_A_MESSAGE] * len(calls) if cost is None else cost
        batch = _Batch(work, calls, sizes)
        count = min(self._cores, len(calls), 1 + sum(sizes) // _BYTES_WORTH_A_WORKER)
        # Daemons: an interrupted program must not wait for a parser.
        threads = [Thread(target=batch.run, args=(self._ask, self._limits), daemon=True) for _ in range(count - 1)]
        try:
            for thread in threads:
                thread.start()
            batch.run(self._ask, self._limits)
            for thread in threads:
                thread.join()
        finally:
            batch.stop()
        if batch.failure:
            raise batch.failure
        return batch.answers

    def _ask(self, work: Callable[..., Any], calls: Sequence[WorkerCall]) -> list[WorkerAnswer] | None:
        with self._borrow_worker() as worker:
            return worker.ask(work.__module__, work.__name__, calls, self._limits.timeout)

    @contextmanager
    def _borrow_worker(self) -> Generator[Worker]:
        with self._slots:
            with self._lock:
                worker = self._idle.pop() if self._idle else Worker(self._limits, self._environment)
                self._busy.add(worker)
            try:
                yield worker
            finally:
                with self._lock:
                    self._busy.discard(worker)
                    if worker.alive:
                        self._idle.append(worker)
                if not worker.alive:
                    worker.dispose()


class _Batch:
    """Calls that several threads run, a group at a time."""

    def __init__(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]], sizes: Sequence[int]) -> None:
        self.answers: list[Any] = [None] * len(calls)
        self.failure: MaridError | None = None
        self._work = work
        self._calls = calls
        self._left = deque(_group_calls(sizes))
        self._lock = Lock()

    def run(self, ask: Callable[..., list[WorkerAnswer] | None], limits: WorkerLimits) -> None:
        while numbers := self._next_group():
            try:
                answers = ask(self._work, [(self._calls[number], {}) for number in numbers])
                if answers is None and len(numbers) > 1:
                    # One of them broke the worker, or together they took too long: try each alone.
                    with self._lock:
                        self._left.extend([number] for number in numbers)
                    continue
            except MaridError as error:
                self.failure = error
                self.stop()
                return
            for number, answer in zip(numbers, answers or [None], strict=True):
                self.answers[number] = _unwrap_answer(answer, limits)

    def stop(self) -> None:
        with self._lock:
            self._left.clear()

    def _next_group(self) -> list[int] | None:
        with self._lock:
            return self._left.popleft() if self._left else None


def _group_calls(sizes: Sequence[int]) -> Generator[list[int]]:
    """The numbers of the calls, in groups that are worth a message."""
    group: list[int] = []
    total = 0
    for number, size in enumerate(sizes):
        group.append(number)
        total += size
        if total >= _BYTES_WORTH_A_MESSAGE:
            yield group
            group, total = [], 0
    if group:
        yield group


def _unwrap_answer(answer: WorkerAnswer | None, limits: WorkerLimits) -> Any:
    """The returned value, or the error to raise."""
    if answer is None:
        limit = f"{limits.timeout:g} seconds or {limits.max_memory >> 20:,} MB"
        return Exhausted(f"that took more than {limit} to parse and was given up")
    kind, value = answer
    if kind == DONE:
        return value
    if kind == FAILED:
        code, message = value
        return next(family for family in FAMILIES if family.code == code)(message)
    return RuntimeError(value)


def _dispose_all(workers: list[Worker]) -> None:
    while workers:
        workers.pop().dispose()
