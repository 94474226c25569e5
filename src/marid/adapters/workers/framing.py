"""Messages over a pipe: a length of four bytes, then the data."""

import os
import select
import struct
import time

_LENGTH = struct.Struct(">I")
_MAX_CHUNK = 1 << 20


def send(descriptor: int, *messages: bytes, deadline: float | None = None) -> None:
    """Write all of it; with a deadline, in monotonic seconds, the descriptor must be non-blocking.

    Raises: TimeoutError; OSError when the pipe has no reader.
    """
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
