"""A server on loopback that answers requests from a script, each connection in a thread."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Self

from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.testing.connection import Connection, Ending
from marid.testing.request import RawRequest, Request, parse_request
from marid.testing.response_steps import response_head, response_steps
from marid.testing.responses import make_response, objection
from marid.testing.script import Script, ScriptQueue, Step

HOST = "127.0.0.1"


class ModelServer:
    """A scripted model: `with ModelServer([say("hello")]) as server: ...`; port 0 takes a free one."""

    def __init__(self, script: Script | Iterable[Step], port: int = 0) -> None:
        self._script = script if isinstance(script, Script) else Script(steps=tuple(script))
        self._queue = ScriptQueue(self._script.steps, repeat=self._script.repeat)
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._endings: dict[int, Ending] = {}
        self._connections: dict[Connection, threading.Thread] = {}
        self._listener: socket.socket | None = None
        self._accept_thread: threading.Thread | None = None
        self.port = port

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://{HOST}:{self.port}"

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's clients and compatible ones."""
        return f"{self.url}/v1"

    anthropic = google = url
    """The base URL for the clients of Anthropic and Google."""

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in order of arrival."""
        with self._changed:
            return tuple(self._requests)

    @property
    def steps_left(self) -> int:
        """How many of the steps in order are left."""
        return self._queue.steps_left

    def play(self, *steps: Step) -> None:
        """Append steps to the script."""
        self._queue.add(*steps)

    def wait_for(self, count: int, seconds: float = 5.0) -> tuple[Request, ...]:
        """All requests, once there are `count`. Raises: Exhausted when that takes too long."""
        message = f"fewer than {count} requests came in {seconds:g} s"
        self._wait(lambda: len(self._requests) >= count, seconds, message)
        return self.requests

    def wait_for_end(self, number: int, seconds: float = 5.0) -> Ending:
        """How the response ended: `left` if the client closed the connection. Raises: Exhausted after `seconds`."""
        message = f"the response to request {number} lasts over {seconds:g} s"
        self._wait(lambda: number in self._endings, seconds, message)
        return self._endings[number]

    def _wait(self, condition: Callable[[], bool], seconds: float, message: str) -> None:
        with self._changed:
            if not self._changed.wait_for(condition, seconds):
                raise Exhausted(message)

    def start(self) -> Self:
        """Listen, and set `port` if it was 0. Raises: Unavailable when the port is taken."""
        try:
            self._listener = socket.create_server((HOST, self.port), backlog=128)
        except OSError as error:
            raise Unavailable(f"cannot listen on {HOST}:{self.port}: {error.strerror}") from error
        self.port = self._listener.getsockname()[1]
        self._accept_thread = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._accept_thread.start()
        return self

    def stop(self) -> None:
        """End all connections, also busy ones, and wait until their sockets are closed."""
        listener, accepting = self._listener, self._accept_thread
        if listener is None or accepting is None:
            return
        self._listener = self._accept_thread = None
        # Closing does not wake a thread that accepts, on every system; a connection does.
        with contextlib.suppress(OSError):
            socket.create_connection((HOST, self.port), 5).close()
        accepting.join(5)
        listener.close()
        for connection in self._connections:
            connection.stop()
        # Also threads that have ended: once joined, their errors have been reported.
        for thread in self._connections.values():
            thread.join(5)
        self._connections = {}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            accepted, _ = listener.accept()
            if self._listener is None:
                accepted.close()
                return
            connection = Connection(accepted)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            alive = {old: each for old, each in self._connections.items() if each.is_alive()}
            self._connections = {**alive, connection: thread}
            thread.start()

    def _serve(self, connection: Connection) -> None:
        """Answer the requests of a connection in turn, until either side ends it."""
        try:
            while (raw := connection.receive()) and self._answer(connection, raw) == "whole":
                pass
        except BadInput as error:
            head = response_head(400, {"Content-Type": "text/plain", "Connection": "close"})
            connection.perform([head + str(error).encode()])
        finally:
            connection.close()

    def _answer(self, connection: Connection, raw: RawRequest) -> Ending:
        with self._changed:
            request = parse_request(raw, len(self._requests))
            self._requests.append(request)
            self._changed.notify_all()
        ending: Ending = "broken"
        try:
            step = objection(request, self._script) or self._queue.next(request)
            ending = connection.perform(response_steps(make_response(request, self._script, step)))
        finally:
            with self._changed:
                self._endings[request.number] = ending
                self._changed.notify_all()
        return ending
