"""Outlines from processes that may be killed: a parser of hostile input can hang, crash or eat all memory.

None of that harms more than the one file: its outline is None, and the next file gets a new worker.
"""

import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock, Thread
from typing import IO, TYPE_CHECKING, cast
from weakref import finalize

from marid.adapters.frames import receive, send
from marid.adapters.outline_child import READY, SOMETHING
from marid.core.errors import MaridError, Unavailable

if TYPE_CHECKING:
    import subprocess
    from types import TracebackType

TARGET = "marid.syntax.outline:outline"
_CHILD = "marid.adapters.outline_child"
# What a worker parses in the time that starting one takes.
_BYTES_WORTH_A_WORKER = 512 * 1024
_MOST_ANSWER = 64 << 20
_START_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one file may cost, and how many files may be in work at once (0: one on each core)."""

    seconds: float = 5.0
    memory: int = 1 << 30
    workers: int = 0


class OutlineWorkers:
    """Starts a worker when the first file comes; safe to use from several threads; `close` leaves no process."""

    def __init__(
        self, *, limits: Limits | None = None, target: str = TARGET, environment: Mapping[str, str] | None = None
    ) -> None:
        self._limits = limits or Limits()
        self._most = self._limits.workers or os.cpu_count() or 1
        self._target = target
        self._environment = environment or {}
        self._places = BoundedSemaphore(self._most)
        self._lock = Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        finalize(self, _bury, self._idle)  # also at the end of the program: nobody has to remember `close`

    def __enter__(self) -> "OutlineWorkers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill every worker, also those at work; a later call starts new ones."""
        with self._lock:
            _bury(self._idle)
            for worker in self._busy:
                worker.kill()  # whoever uses it sees that, and buries it

    def outline(self, data: bytes, language: str) -> str | None:
        """The outline of one file, or None when there is none within the limits.

        Raises:
            Unavailable: no worker can be started.
        """
        with self._borrowed() as worker:
            return worker.ask(data, language, self._limits.seconds)

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        """One answer for each item, in their order, with as many workers as the bytes are worth.

        Raises:
            Unavailable: no worker can be started.
        """
        batch = _Batch(items)
        worth = 1 + sum(len(data) for data, _ in items) // _BYTES_WORTH_A_WORKER
        # Daemons: an interrupted program must not wait for the files that are being parsed.
        helpers = [
            Thread(target=batch.work, args=(self.outline,), daemon=True)
            for _ in range(min(self._most, len(items), worth) - 1)
        ]
        try:
            for helper in helpers:
                helper.start()
            batch.work(self.outline)
            for helper in helpers:
                helper.join()
        finally:
            batch.stop()
        if batch.failure:
            raise batch.failure
        return batch.answers

    @contextmanager
    def _borrowed(self) -> "Generator[_Worker, None, None]":
        with self._places:
            with self._lock:
                worker = self._idle.pop() if self._idle else _Worker(self._target, self._limits, self._environment)
                self._busy.add(worker)
            try:
                yield worker
            finally:
                with self._lock:
                    self._busy.discard(worker)
                    if worker.alive:
                        self._idle.append(worker)
                if not worker.alive:
                    worker.bury()


class _Batch:
    """Files that several threads take one by one."""

    def __init__(self, items: Sequence[tuple[bytes, str]]) -> None:
        self.answers: list[str | None] = [None] * len(items)
        self.failure: MaridError | None = None
        self._left = deque(enumerate(items))
        self._lock = Lock()

    def work(self, outline: Callable[[bytes, str], str | None]) -> None:
        while job := self._next():
            number, (data, language) = job
            try:
                self.answers[number] = outline(data, language)
            except MaridError as error:
                self.failure = error
                self.stop()

    def stop(self) -> None:
        with self._lock:
            self._left.clear()

    def _next(self) -> tuple[int, tuple[bytes, str]] | None:
        with self._lock:
            return self._left.popleft() if self._left else None


class _Worker:
    """One process and its two pipes; of no more use after the first thing that goes wrong."""

    def __init__(self, target: str, limits: Limits, environment: Mapping[str, str]) -> None:
        self.alive = True
        self._ready = False
        self._process = _spawn(target, limits, environment)
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
        for pipe in (self._stdin, self._stdout):
            os.set_blocking(pipe.fileno(), False)  # our ends only; waiting has a deadline

    def ask(self, data: bytes, language: str, seconds: float) -> str | None:
        if not self._ready:
            self._greet()
        answer = self._exchange(language.encode(), data, seconds=seconds)
        return answer[1:].decode("utf-8", "replace") if answer and answer.startswith(SOMETHING) else None

    def kill(self) -> None:
        """From any thread; the pipes stay open, because another thread may be reading from them."""
        self.alive = False
        self._process.kill()
        self._process.wait()

    def bury(self) -> None:
        """Only by whoever alone has the worker."""
        self.kill()
        self._stdin.close()
        self._stdout.close()

    def _greet(self) -> None:
        """Wait until the parser is loaded, which is not the first file's fault."""
        said = self._exchange(seconds=_START_SECONDS)
        if said != READY:
            self.kill()
            reason = said.decode("utf-8", "replace") if said else "it ended before it began"
            raise Unavailable(f"the outline worker does not start: {reason}")
        self._ready = True

    def _exchange(self, *words: bytes, seconds: float) -> bytes | None:
        deadline = time.monotonic() + seconds
        answer = None
        try:
            send(self._stdin.fileno(), *words, deadline=deadline)
            answer = receive(self._stdout.fileno(), most=_MOST_ANSWER, deadline=deadline)
        except OSError:  # too late, or it died with our words half said
            answer = None
        finally:
            if answer is None:  # also when interrupted: the rest of this answer would be taken for the next one
                self.kill()
        return answer


def _bury(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().bury()


def _spawn(target: str, limits: Limits, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    import subprocess  # imported when used

    # -P: the folder that is looked at must not bring its own modules.
    argv = [sys.executable or "", "-P", "-m", _CHILD, target, str(limits.memory), str(math.ceil(limits.seconds) + 1)]
    path = os.pathsep.join(entry for entry in sys.path if os.path.isabs(entry))
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**environment, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C at the terminal does not reach it
        )
    except OSError as error:
        raise Unavailable(f"the outline worker does not start: {error}") from error
