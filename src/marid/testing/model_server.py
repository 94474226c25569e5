"""The server: it listens on loopback and plays a script to whoever asks, each connection in a thread of its own."""

import contextlib
import socket
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from marid.core.errors import BadInput, Unavailable
from marid.testing.connection import Connection, Ending
from marid.testing.http1 import RawRequest, response_head
from marid.testing.request import Request
from marid.testing.request_log import RequestLog
from marid.testing.response_steps import Send, response_steps
from marid.testing.responses import make_response, objection
from marid.testing.routes import read_request
from marid.testing.script import Script, Step
from marid.testing.script_queue import ScriptQueue

HOST = "127.0.0.1"


class ModelServer:
    """A model of your own making: `with ModelServer([say("hello")]) as server: ...`; port 0 is any free one."""

    def __init__(self, script: Script | Iterable[Step], port: int = 0) -> None:
        self._script = script if isinstance(script, Script) else Script(steps=tuple(script))
        self._queue = ScriptQueue(self._script.steps, repeat=self._script.repeat)
        self._log = RequestLog()
        self._connections: dict[Connection, threading.Thread] = {}
        self._listener: socket.socket | None = None
        self._accept_thread: threading.Thread | None = None
        self.port = port

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://{HOST}:{self.port}"

    @property
    def openai(self) -> str:
        """The base URL for clients that speak as OpenAI's do."""
        return f"{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's clients."""
        return self.url

    @property
    def google(self) -> str:
        """The base URL for Google's clients."""
        return self.url

    @property
    def requests(self) -> tuple[Request, ...]:
        """What was asked so far, in order of arrival."""
        return self._log.requests

    @property
    def steps_left(self) -> int:
        """How many steps, of those in order, nobody has asked for yet."""
        return self._queue.steps_left

    def play(self, *steps: Step) -> None:
        """Append steps to the script."""
        self._queue.add(*steps)

    def wait_for(self, count: int, seconds: float = 5.0) -> tuple[Request, ...]:
        """All requests, once there are `count`.

        Raises: Exhausted when the time is over before.
        """
        return self._log.wait_for(count, seconds)

    def wait_for_end(self, number: int, seconds: float = 5.0) -> Ending:
        """How the answer to a request ended, once it has: `left` if the client closed the connection.

        Raises: Exhausted when the time is over before.
        """
        return self._log.wait_for_end(number, seconds)

    def start(self) -> Self:
        """Listen; a port that was 0 is then the one that was found.

        Raises: Unavailable when the port is taken.
        """
        try:
            self._listener = socket.create_server((HOST, self.port), backlog=128)
        except OSError as error:
            raise Unavailable(f"cannot listen on {HOST}:{self.port}: {error.strerror}") from error
        self.port = self._listener.getsockname()[1]
        self._accept_thread = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._accept_thread.start()
        return self

    def stop(self) -> None:
        """End all connections, answers in progress too, and wait until their sockets are closed."""
        listener, greeter = self._listener, self._accept_thread
        if listener is None or greeter is None:
            return
        self._listener = self._accept_thread = None
        # Closing does not wake a thread that waits for a visitor, on every system; a visitor does.
        with contextlib.suppress(OSError):
            socket.create_connection((HOST, self.port), 5).close()
        greeter.join(5)
        listener.close()
        for wire in self._connections:
            wire.stop()
        # Also those that ended by themselves: once they are joined, what went wrong in them has been reported.
        for thread in self._connections.values():
            thread.join(5)
        self._connections = {}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            if self._listener is None:
                connection.close()
                return
            wire = Connection(connection)
            thread = threading.Thread(target=self._serve, args=(wire,), daemon=True)
            self._connections = {
                **{old: each for old, each in self._connections.items() if each.is_alive()},
                wire: thread,
            }
            thread.start()

    def _serve(self, wire: Connection) -> None:
        """Answer a connection's requests, one after the other, until either side ends it."""
        try:
            while (received := wire.receive()) and self._answer(wire, received) == "whole":
                pass
        except BadInput as error:
            wire.perform(
                [
                    Send(
                        data=response_head(400, {"Content-Type": "text/plain", "Connection": "close"})
                        + str(error).encode()
                    )
                ]
            )
        finally:
            wire.close()

    def _answer(self, wire: Connection, received: RawRequest) -> Ending:
        request = self._log.add(lambda number: read_request(received, number))
        ending: Ending = "broken"
        try:
            said = objection(request, self._script) or self._queue.next(request)
            ending = wire.perform(response_steps(make_response(request, self._script, said)))
        finally:
            self._log.record_end(request.number, ending)
        return ending
