"""One worker process and its two pipes; killed at the first failure."""

import io
import math
import os
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from marid.adapters.workers.child import READY
from marid.adapters.workers.framing import receive, send
from marid.core.errors import Unavailable

if TYPE_CHECKING:
    import subprocess

_CHILD = "marid.adapters.workers.child"
_MAX_ANSWER = 64 << 20
_START_SECONDS = 30.0

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
        """An answer to each call; None if the worker died or took too long.

        Raises:
            Unavailable: the worker does not start.
        """
        if not self._ready:
            self._wait_until_ready()
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

    def _wait_until_ready(self) -> None:
        """Wait for the interpreter to start, which does not count against the first call's timeout."""
        if self._exchange(timeout=_START_SECONDS) != READY:
            self.kill()
            raise Unavailable("a parser's process does not start: it ended before it began")
        self._ready = True

    def _exchange(self, *messages: bytes, timeout: float) -> bytes | None:
        deadline = time.monotonic() + timeout
        answer = None
        try:
            send(self._stdin.fileno(), *messages, deadline=deadline)
            answer = receive(self._stdout.fileno(), max_size=_MAX_ANSWER, deadline=deadline)
        except OSError:  # it took too long or died
            pass
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
