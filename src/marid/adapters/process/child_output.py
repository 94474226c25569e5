"""Read a child's output until the child ends or reaches a limit."""

import codecs
import os
import selectors
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, NamedTuple, cast

from marid.adapters.process.process_tree import ProcessTree
from marid.ports.processes import OnOutput

MAX_PROCESSES = 1024
TICK = 0.05
DRAIN = 1.0
_CHUNK = 1 << 16


class BoundedOutput:
    """Keeps at most `max_bytes` of a stream: half from the start, half from the end."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, data: bytes) -> str:
        """Add `data` and return it as text, or "" once more than `max_bytes` have come."""
        text = self._decoder.decode(data) if self._total < 2 * self._half else ""
        self._total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:  # twice, so that each byte is moved once
            del self._tail[: -self._half]
        return text

    @property
    def dropped_bytes(self) -> int:
        """How many bytes were dropped."""
        return max(0, self._total - 2 * self._half)

    def text(self) -> str:
        """The kept output, with a line where bytes are missing; invalid UTF-8 is replaced."""
        if not self.dropped_bytes:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        tail = bytes(self._tail[-self._half :])
        start = next((at for at, byte in enumerate(tail[:3]) if byte & 0xC0 != 0x80), 3)  # skip a split character
        return f"{head}\n[... {self.dropped_bytes:,} bytes left out ...]\n{tail[start:].decode('utf-8', 'replace')}"


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """When to end a child, and how many bytes of each stream to keep; `on_output` gets the text as it comes."""

    timeout: float = 60.0
    max_output: int = 1_000_000
    max_processes: int = MAX_PROCESSES
    on_output: OnOutput | None = None
    stopped: Callable[[], bool] | None = None


class ChildOutput(NamedTuple):
    """`end_reason` is "" if the child exited, else "time", "stopped" or "crowd"."""

    end_reason: str
    seconds: float
    streams: Mapping[str, BoundedOutput]


class ChildMonitor:
    """Watches one child, once."""

    def __init__(self, tree: ProcessTree, options: RunOptions) -> None:
        self._tree = tree
        self._options = options
        self._streams = {"out": BoundedOutput(options.max_output), "err": BoundedOutput(options.max_output)}
        self._begun = time.monotonic()
        self._ended: float | None = None

    def read_until_end(self) -> ChildOutput:
        """Read until the child has exited and its streams are closed; a grandchild may delay that by one second."""
        child = self._tree.child
        exited = os.pidfd_open(child.pid)  # readable when the process exits
        with selectors.DefaultSelector() as selector, open(exited, "rb", buffering=0):
            selector.register(cast("IO[bytes]", child.stdout), selectors.EVENT_READ, "out")
            selector.register(cast("IO[bytes]", child.stderr), selectors.EVENT_READ, "err")
            selector.register(exited, selectors.EVENT_READ)
            reason = None
            while reason is None:
                self._read_for_tick(selector)
                reason = self._end_reason(is_open=any(key.data for key in selector.get_map().values()))
        return ChildOutput(end_reason=reason, seconds=time.monotonic() - self._begun, streams=self._streams)

    def _read_for_tick(self, selector: selectors.BaseSelector) -> None:
        """Read for one tick, or until the child exits or every stream is closed."""
        until = time.monotonic() + min(TICK, self._options.timeout)
        while selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                if key.data is None:
                    until = 0.0
                    selector.unregister(key.fileobj)
                elif data := os.read(key.fd, _CHUNK):
                    if (text := self._streams[key.data].add(data)) and self._options.on_output:
                        self._options.on_output(key.data, text)
                else:
                    selector.unregister(key.fileobj)

    def _end_reason(self, *, is_open: bool) -> str | None:
        """Why to stop reading; None to go on."""
        now = time.monotonic()
        if self._ended is None and self._tree.has_ended():
            self._ended = now
        if self._ended is not None:
            return None if is_open and now - self._ended < DRAIN else ""
        if now - self._begun >= self._options.timeout:
            return "time"
        if self._options.stopped and self._options.stopped():
            return "stopped"
        return "crowd" if self._tree.has_more_than(self._options.max_processes) else None
