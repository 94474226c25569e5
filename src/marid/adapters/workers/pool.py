"""Run functions in processes that may be killed: a parser of hostile input can hang, crash or use up the memory.

Then only that call fails, and the next one gets a new process.
"""

import io
import math
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock, Thread
from typing import IO, TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast
from weakref import finalize

from marid.adapters.workers.child import DONE, FAILED, READY, receive, send
from marid.core.errors import FAMILIES, Exhausted, MaridError, Unavailable

if TYPE_CHECKING:
    import subprocess

P = ParamSpec("P")
T = TypeVar("T")
_CHILD = "marid.adapters.workers.child"
_MAX_ANSWER = 64 << 20
_START_SECONDS = 30.0
# How much a worker parses in the time that starting one takes, and how much is worth a separate message.
_BYTES_WORTH_A_WORKER = 512 * 1024
_BYTES_WORTH_A_MESSAGE = 128 * 1024

WorkerCall: TypeAlias = tuple[tuple[Any, ...], Mapping[str, Any]]
WorkerAnswer: TypeAlias = tuple[str, Any]


@dataclass(frozen=True, kw_only=True)
class WorkerLimits:
    """Limits of one call, and how many workers share a batch (0: one per core)."""

    timeout: float = 5.0
    max_memory: int = 1 << 30
    workers: int = 0


class Worker:
    """Starts the process at once and waits for it at the first call."""

    def __init__(self, limits: WorkerLimits, environment: Mapping[str, str]) -> None:
        self.alive = True
        self._ready = False
        self._process = _spawn(limits, environment)
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
        for pipe in (self._stdin, self._stdout):
            os.set_blocking(pipe.fileno(), False)  # our ends only: every wait has a deadline

    def ask(self, module: str, name: str, calls: Sequence[WorkerCall], timeout: float) -> list[WorkerAnswer] | None:
        """An answer to each call; None if the worker died or took too long. Raises: Unavailable if it cannot start."""
        # Waiting for the interpreter to start does not count against the first call's timeout.
        if not self._ready and self._exchange(timeout=_START_SECONDS) != READY:
            self.kill()
            raise Unavailable("a parser's process does not start: it ended before it began")
        self._ready = True
        reply = self._exchange(pickle.dumps((module, name, calls), pickle.HIGHEST_PROTOCOL), timeout=timeout)
        return None if reply is None else load_answers(reply)

    def kill(self) -> None:
        """Kill the process, from any thread; the pipes stay open, since another thread may read from them."""
        self.alive = False
        self._process.kill()
        self._process.wait()

    def dispose(self) -> None:
        """Kill the process and close the pipes; no other thread may use the worker."""
        self.kill()
        self._stdin.close()
        self._stdout.close()

    def _exchange(self, *messages: bytes, timeout: float) -> bytes | None:
        deadline = time.monotonic() + timeout
        answer = None
        try:
            with suppress(OSError):  # it took too long or died
                send(self._stdin.fileno(), *messages, deadline=deadline)
                answer = receive(self._stdout.fileno(), max_size=_MAX_ANSWER, deadline=deadline)
        finally:
            if answer is None:  # also when interrupted: the rest would be taken for the next answer
                self.kill()
        return answer


class _SafeUnpickler(pickle.Unpickler):
    """Loads values of our classes only: a parser taken over by hostile input must not choose what we run."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        found = super().find_class(module_name, global_name) if module_name.startswith("marid.") else None
        if not isinstance(found, type) or found.__module__ != module_name:
            raise pickle.UnpicklingError(f"{module_name}.{global_name} is not one of our classes")
        return found


def load_answers(message: bytes) -> list[WorkerAnswer] | None:
    """The answers in a message; None if it is malformed or hostile."""
    try:
        return cast("list[WorkerAnswer]", _SafeUnpickler(io.BytesIO(message)).load())
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, TypeError, ValueError):
        return None


def _spawn(limits: WorkerLimits, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    import subprocess  # imported when used

    # -P: the project must not supply modules.
    argv = [sys.executable or "", "-P", "-m", _CHILD, str(limits.max_memory), str(math.ceil(limits.timeout) + 1)]
    path = os.pathsep.join(entry for entry in sys.path if os.path.isabs(entry))
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**environment, "PYTHONPATH": path},
            start_new_session=True,  # so that Ctrl-C at the terminal does not reach it
        )
    except OSError as error:
        raise Unavailable(f"a parser's process does not start: {error}") from error


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
