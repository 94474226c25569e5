"""Reading what a child prints until it has ended, or must."""

import contextlib
import os
import selectors
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import IO, cast

from marid.adapters.process.bounded_output import BoundedOutput
from marid.adapters.process.process_limits import MAX_PROCESSES
from marid.adapters.process.process_tree import ProcessTree
from marid.ports.processes import OnOutput

TICK = 0.05
DRAIN = 1.0
_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """When a child is ended, and how many bytes of each of its streams are kept."""

    timeout: float
    max_output: int = 1_000_000
    max_processes: int = MAX_PROCESSES


@dataclass(frozen=True, kw_only=True)
class RunCallbacks:
    """Whom to tell, and whom to ask whether to go on."""

    on_output: OnOutput | None = None
    stopped: Callable[[], bool] | None = None


@dataclass(frozen=True, kw_only=True)
class ChildOutput:
    """Why no more was read: "" for a child that ended by itself, else "time", "stopped" or "crowd"."""

    end_reason: str
    seconds: float
    streams: Mapping[str, BoundedOutput]


class ChildMonitor:
    """Watches one child, once."""

    def __init__(self, family: ProcessTree, bounds: RunLimits, hooks: RunCallbacks) -> None:
        self._tree = family
        self._bounds = bounds
        self._on_output = hooks.on_output
        self._stopped = hooks.stopped
        self._streams = {"out": BoundedOutput(bounds.max_output), "err": BoundedOutput(bounds.max_output)}
        self._begun = time.monotonic()
        self._ended: float | None = None

    def read_until_end(self) -> ChildOutput:
        """Until the child has ended and its streams are closed, which a grandchild may put off for a second only."""
        child = self._tree.child
        with selectors.DefaultSelector() as waiting, _open_pidfd(child.pid) as exited:
            waiting.register(cast("IO[bytes]", child.stdout), selectors.EVENT_READ, self._streams["out"])
            waiting.register(cast("IO[bytes]", child.stderr), selectors.EVENT_READ, self._streams["err"])
            waiting.register(exited, selectors.EVENT_READ)
            why = None
            while why is None:
                self._read_for_tick(waiting)
                why = self._end_reason(is_open=any(key.data for key in waiting.get_map().values()))
        return ChildOutput(end_reason=why, seconds=time.monotonic() - self._begun, streams=self._streams)

    def _read_for_tick(self, waiting: selectors.BaseSelector) -> None:
        """For one tick, or until the child has ended or everything is closed."""
        until = time.monotonic() + min(TICK, self._bounds.timeout)
        while waiting.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                if key.data is None:
                    until = 0.0
                    waiting.unregister(key.fileobj)
                elif data := os.read(key.fd, _CHUNK):
                    self._capture(key.data, data)
                else:
                    waiting.unregister(key.fileobj)

    def _capture(self, stream: BoundedOutput, data: bytes) -> None:
        text = stream.add(data)
        if text and self._on_output is not None:
            self._on_output("out" if stream is self._streams["out"] else "err", text)

    def _end_reason(self, *, is_open: bool) -> str | None:
        """Why there is no more to wait for; None if there is."""
        now = time.monotonic()
        if self._ended is None and self._tree.has_ended():
            self._ended = now
        if self._ended is not None:
            return None if is_open and now - self._ended < DRAIN else ""
        if now - self._begun >= self._bounds.timeout:
            return "time"
        if self._stopped is not None and self._stopped():
            return "stopped"
        return "crowd" if self._tree.has_more_than(self._bounds.max_processes) else None


@contextlib.contextmanager
def _open_pidfd(pid: int) -> Generator[int]:
    """A descriptor that becomes readable when the process ends."""
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)
