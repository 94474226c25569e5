"""One connection: it carries out acts, and while it waits it notices that the other side has gone."""

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Iterable
from typing import Literal, TypeAlias, assert_never

from marid.testing.faults import Gate
from marid.testing.http1 import RawRequest, read_raw_request
from marid.testing.response_steps import Drop, Pause, ResponseStep, Send, WaitForGate

Ending: TypeAlias = Literal["whole", "cut", "left", "stopped", "broken"]


class Disconnected(Exception):
    """The other side has closed the connection, or we are to stop."""


class Connection:
    """A connection that was accepted. `stop` may be called from any thread, all else from the one that serves it."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._reader = connection.makefile("rb")
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.settimeout(0)
        self._wake_sender.settimeout(0)
        self.stopped = False

    def receive(self) -> RawRequest | None:
        """The next request; None when the other side, or we, have ended the connection.

        Raises: BadInput when what comes is no HTTP.
        """
        try:
            return read_raw_request(self._reader)
        except OSError:
            return None

    def perform(self, steps: Iterable[ResponseStep]) -> Ending:
        """Carry out an answer; after any ending but `whole` the connection is of no further use."""
        try:
            for act in steps:
                match act:
                    case Send(data=data):
                        self._connection.sendall(data)
                    case WaitForGate(gate=gate):
                        self._wait(gate)
                    case Pause(seconds=seconds):
                        self._pause(seconds)
                    case Drop(reset=reset):
                        self._drop(reset=reset)
                        return "cut"
                    case _:
                        assert_never(act)
        except (Disconnected, OSError):
            return "stopped" if self.stopped else "left"
        return "whole"

    def stop(self) -> None:
        """Wake whoever waits here and end the connection."""
        self.stopped = True
        self._wake()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give all sockets back."""
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
        """Wait for the bell or for so long.

        Raises: Gone when the other side has left or we are to stop.
        """
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
        """Whether the client already sends more, so that its leaving cannot be seen.

        Raises: Gone when it has left.
        """
        try:
            waiting = self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if not waiting:
            raise Disconnected
        return True

    def _drop(self, *, reset: bool) -> None:
        if reset:
            # To linger for no time is to reset: what was not yet delivered is thrown away.
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            self._connection.shutdown(socket.SHUT_WR)
