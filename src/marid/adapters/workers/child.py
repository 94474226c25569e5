"""The worker process: run the calls that come in on a pipe until it is closed.

Run as a module with the limits as arguments. Exceptions are answers; a crash ends the process, which tells the parent
that the call cannot be made.
"""

import gc
import io
import os
import pickle
import select
import signal
import struct
import sys
import time
from enum import Enum
from importlib import import_module
from typing import Any

from marid.core.errors import Exhausted, MaridError

READY = b"ready"
MAX_MESSAGE = (1 << 32) - 1
DONE, FAILED, BROKEN = "done", "failed", "broken"

_MESSAGES_PER_COLLECTION = 64
# A message on a pipe is a length of four bytes, then the data.
_LENGTH = struct.Struct(">I")
_MAX_CHUNK = 1 << 20
TOO_MUCH = "that takes more memory or deeper nesting than a parser may have"


def send(descriptor: int, *messages: bytes, deadline: float | None = None) -> None:
    """Write all of it; with a (monotonic) deadline, the descriptor must not block. Raises: TimeoutError, OSError."""
    left = memoryview(b"".join(part for message in messages for part in (_LENGTH.pack(len(message)), message)))
    while left:
        _await(descriptor, select.POLLOUT, deadline)
        left = left[os.write(descriptor, left[:_MAX_CHUNK]) :]


def receive(descriptor: int, *, max_size: int, deadline: float | None = None) -> bytes | None:
    """The next message; None if the pipe is closed or the message is longer than `max_size`. Raises: TimeoutError."""
    head = _read_exactly(descriptor, _LENGTH.size, deadline)
    if head is None:
        return None
    (size,) = _LENGTH.unpack(head)
    return _read_exactly(descriptor, size, deadline) if size <= max_size else None


def _read_exactly(descriptor: int, size: int, deadline: float | None) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        _await(descriptor, select.POLLIN, deadline)
        part = os.read(descriptor, min(size - len(parts), _MAX_CHUNK))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _await(descriptor: int, event: int, deadline: float | None) -> None:
    if deadline is None:
        return  # the descriptor is blocking
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError("the other end of the pipe takes too long")


def serve(source: int, sink: int, *, cpu_seconds: int) -> None:
    """Answer until the pipe is closed; `cpu_seconds` limits each message, should the parent be dead and not kill us."""
    send(sink, READY)
    served = 0
    while (message := receive(source, max_size=MAX_MESSAGE)) is not None:
        used = os.times()
        set_limit("RLIMIT_CPU", int(used.user + used.system) + 1 + cpu_seconds)
        send(sink, dump_answers(answer_calls(message)))
        served += 1
        if served % _MESSAGES_PER_COLLECTION == 0:
            gc.collect()  # after the answer, so that the parent does not wait for it


class _PlainPickler(pickle.Pickler):
    """Writes a member of an enum as its class and value: Python 3.11.2 writes a call of `getattr`, which is refused."""

    def reducer_override(self, obj: Any, /) -> Any:
        return (type(obj), (obj.value,)) if isinstance(obj, Enum) else NotImplemented


def dump_answers(answers: list[tuple[str, Any]]) -> bytes:
    """The message that the parent's loader accepts."""
    message = io.BytesIO()
    _PlainPickler(message, pickle.HIGHEST_PROTOCOL).dump(answers)
    return message.getvalue()


def answer_calls(message: bytes) -> list[tuple[str, Any]]:
    """The outcome of each call of a message."""
    module, name, calls = pickle.loads(message)  # noqa: S301 - it comes from the process that started us
    work = getattr(import_module(module), name)
    return [_run_call(work, args, kwargs) for args, kwargs in calls]


def _run_call(work: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
    try:
        return DONE, work(*args, **kwargs)
    except MaridError as error:
        return FAILED, (error.code, str(error))
    except (MemoryError, RecursionError):
        return FAILED, (Exhausted.code, TOO_MUCH)
    except Exception as error:  # noqa: BLE001 - a bug in the work is reported to the parent
        return BROKEN, f"{getattr(work, '__name__', '')}: {type(error).__name__}: {error}"


def set_limit(name: str, maximum: int) -> None:
    """Set a limit of this process, as far as the system has it and allows it."""
    try:
        import resource  # not on every system

        number: int = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (maximum if hard == resource.RLIM_INFINITY else min(maximum, hard), hard))
    except (ImportError, OSError, ValueError):
        return


def claim_stdio() -> tuple[int, int]:
    """Move standard input and output to other descriptors: what a parser prints must not become part of an answer."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    return source, sink


def main(memory: str, cpu_seconds: str) -> None:
    """Serve on standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    source, sink = claim_stdio()
    set_limit("RLIMIT_CORE", 0)  # a crash must not leave a file in the user's folder
    set_limit("RLIMIT_AS", int(memory))
    gc.disable()  # syntax trees have many objects and no cycles: collecting costs a third of the parsing
    serve(source, sink, cpu_seconds=int(cpu_seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
