"""The server: it listens on loopback and plays a script to whoever asks, each connection in a thread of its own."""

import contextlib
import socket
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from marid.core.errors import BadInput, Unavailable
from marid.testing.acts import Send, acts
from marid.testing.answers import answer, objection
from marid.testing.heads import Received, head
from marid.testing.ledger import Ledger
from marid.testing.playbook import Playbook
from marid.testing.request import Request
from marid.testing.routes import read_request
from marid.testing.script import Script, Step
from marid.testing.wire import Ending, Wire

HOST = "127.0.0.1"


class ModelServer:
    """A model of your own making: `with ModelServer([say("hello")]) as server: ...`; port 0 is any free one."""

    def __init__(self, script: Script | Iterable[Step], port: int = 0) -> None:
        self._script = script if isinstance(script, Script) else Script(steps=tuple(script))
        self._playbook = Playbook(self._script.steps, repeat=self._script.repeat)
        self._ledger = Ledger()
        self._wires: dict[Wire, threading.Thread] = {}
        self._listener: socket.socket | None = None
        self._greeter: threading.Thread | None = None
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
        return self._ledger.requests

    @property
    def unplayed(self) -> int:
        """How many steps, of those in order, nobody has asked for yet."""
        return self._playbook.unplayed

    def play(self, *steps: Step) -> None:
        """Append steps to the script."""
        self._playbook.add(*steps)

    def wait_for(self, count: int, seconds: float = 5.0) -> tuple[Request, ...]:
        """All requests, once there are `count`.

        Raises: Exhausted when the time is over before.
        """
        return self._ledger.wait_for(count, seconds)

    def ended(self, number: int, seconds: float = 5.0) -> Ending:
        """How the answer to a request ended, once it has: `left` if the client closed the connection.

        Raises: Exhausted when the time is over before.
        """
        return self._ledger.ended(number, seconds)

    def start(self) -> Self:
        """Listen; a port that was 0 is then the one that was found.

        Raises: Unavailable when the port is taken.
        """
        try:
            self._listener = socket.create_server((HOST, self.port), backlog=128)
        except OSError as error:
            raise Unavailable(f"cannot listen on {HOST}:{self.port}: {error.strerror}") from error
        self.port = self._listener.getsockname()[1]
        self._greeter = threading.Thread(target=self._greet, args=(self._listener,), daemon=True)
        self._greeter.start()
        return self

    def stop(self) -> None:
        """End all connections, answers in progress too, and wait until their sockets are closed."""
        listener, greeter = self._listener, self._greeter
        if listener is None or greeter is None:
            return
        self._listener = self._greeter = None
        # Closing does not wake a thread that waits for a visitor, on every system; a visitor does.
        with contextlib.suppress(OSError):
            socket.create_connection((HOST, self.port), 5).close()
        greeter.join(5)
        listener.close()
        for wire in self._wires:
            wire.stop()
        # Also those that ended by themselves: once they are joined, what went wrong in them has been reported.
        for thread in self._wires.values():
            thread.join(5)
        self._wires = {}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _greet(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            if self._listener is None:
                connection.close()
                return
            wire = Wire(connection)
            thread = threading.Thread(target=self._serve, args=(wire,), daemon=True)
            self._wires = {**{old: each for old, each in self._wires.items() if each.is_alive()}, wire: thread}
            thread.start()

    def _serve(self, wire: Wire) -> None:
        """Answer a connection's requests, one after the other, until either side ends it."""
        try:
            while (received := wire.receive()) and self._answer(wire, received) == "whole":
                pass
        except BadInput as error:
            wire.perform(
                [Send(data=head(400, {"Content-Type": "text/plain", "Connection": "close"}) + str(error).encode())]
            )
        finally:
            wire.close()

    def _answer(self, wire: Wire, received: Received) -> Ending:
        request = self._ledger.enter(lambda number: read_request(received, number))
        ending: Ending = "broken"
        try:
            said = objection(request, self._script) or self._playbook.next(request)
            ending = wire.perform(acts(answer(request, self._script, said)))
        finally:
            self._ledger.end(request.number, ending)
        return ending
