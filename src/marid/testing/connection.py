"""One HTTP/1.1 connection: it reads requests, performs the steps of a response and notices when the client leaves."""

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from http.client import HTTPException, parse_headers
from typing import BinaryIO, Literal, TypeAlias

from marid.core.errors import BadInput
from marid.testing.faults import Gate
from marid.testing.request import RawRequest
from marid.testing.response_steps import Drop, ResponseStep

Ending: TypeAlias = Literal["whole", "cut", "left", "stopped", "broken"]


class Disconnected(Exception):
    """The client has closed the connection, or the server stops."""


class Connection:
    """An accepted connection. `stop` may be called from any thread, the rest only from the one that serves it."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._reader = connection.makefile("rb")
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.settimeout(0)
        self._wake_sender.settimeout(0)
        self.stopped = False

    def receive(self) -> RawRequest | None:
        """The next request; None when either side has ended the connection. Raises: BadInput."""
        try:
            return read_raw_request(self._reader)
        except OSError:
            return None

    def perform(self, steps: Iterable[ResponseStep]) -> Ending:
        """Perform the steps; after any ending but `whole` the connection cannot be used again."""
        try:
            for step in steps:
                match step:
                    case bytes():
                        self._connection.sendall(step)
                    case Gate():
                        self._wait(step)
                    case int() | float():
                        self._pause(step)
                    case Drop():
                        self._drop(reset=step.reset)
                        return "cut"
        except (Disconnected, OSError):
            return "stopped" if self.stopped else "left"
        return "whole"

    def stop(self) -> None:
        """Wake the thread that waits here and end the connection."""
        self.stopped = True
        self._wake()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all sockets."""
        for each in (self._reader, self._connection, self._wake_receiver, self._wake_sender):
            each.close()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"!")

    def _wait(self, gate: Gate) -> None:
        gate.arrive(self._wake)
        try:
            while not gate.open:
                self._wait_for_wake(None)
        finally:
            gate.leave(self._wake)

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._wait_for_wake(left)

    def _wait_for_wake(self, seconds: float | None) -> None:
        """Wait until woken or for `seconds`. Raises: Disconnected."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_receiver, selectors.EVENT_READ)
            if not self._has_pending_input():
                selector.register(self._connection, selectors.EVENT_READ)
            selector.select(seconds)
        with contextlib.suppress(BlockingIOError):
            self._wake_receiver.recv(64)
        if self.stopped:
            raise Disconnected
        self._has_pending_input()

    def _has_pending_input(self) -> bool:
        """Whether the client has already sent more, which hides whether it has left. Raises: Disconnected."""
        try:
            pending = self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if not pending:
            raise Disconnected
        return True

    def _drop(self, *, reset: bool) -> None:
        if reset:
            # With a linger time of zero, closing resets the connection and discards what was not delivered.
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            self._connection.shutdown(socket.SHUT_WR)


def read_raw_request(reader: BinaryIO) -> RawRequest | None:
    """The next request of a connection; None at its end. Raises: BadInput for anything but HTTP/1."""
    line = reader.readline(65537)
    if not line.endswith(b"\n"):
        return None
    words = line.decode("latin-1").split()
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadInput("the request line is not one of HTTP/1.1")
    try:
        headers = {name.lower(): value for name, value in parse_headers(reader).items()}
        return RawRequest(method=words[0], target=words[1], headers=headers, content=_read_content(reader, headers))
    except (HTTPException, ValueError) as error:
        raise BadInput(f"the request is not HTTP: {error}") from error


def _read_content(reader: BinaryIO, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return reader.read(int(headers.get("content-length", "0")))
    content = b""
    while size := int(reader.readline().partition(b";")[0], 16):
        content += reader.read(size)
        reader.readline()
    while reader.readline().strip():  # trailers
        pass
    return content
