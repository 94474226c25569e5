"""The wire: standard input and output, kept open until every request that came in has its answer.

Without this a client that writes its requests and closes its end, as a shell pipe does, would get no answers.
"""

import sys
from contextlib import suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

# In seconds: how long calls may go on after the client has closed its end.
_DRAIN_TIMEOUT = 60.0


def log_line(line: str) -> None:
    """Write a line for the person who runs the server to stderr: stdout is the wire."""
    # Some clients close it.
    with suppress(OSError):
        sys.stderr.write(f"marid: {line}\n")
        sys.stderr.flush()


class PendingRequests:
    """Requests without an answer, by id. A client may send an id back as text: 1 and "1" are the same."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._changed = anyio.Event()

    def note_incoming(self, message: JSONRPCMessage) -> None:
        """Count a request, or drop one that the client cancels."""
        if isinstance(message, JSONRPCRequest):
            self._ids.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._discard((message.params or {}).get("requestId"))

    def note_outgoing(self, message: JSONRPCMessage) -> None:
        """Drop a request that is answered."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._discard(message.id)

    async def wait_until_empty(self) -> None:
        """Return when every request is answered."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()

    def _discard(self, number: object) -> None:
        self._ids.discard(str(number))
        self._changed.set()


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes its end.

    Raises: BrokenPipeError, perhaps in a group, when the client has gone without waiting for its answers.
    """
    pending = PendingRequests()
    into, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, out_of = anyio.create_memory_object_stream[SessionMessage](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(_relay_requests, read, into, pending)
        tasks.start_soon(_relay_answers, out_of, write, pending)
        await server.run(requests, answers, server.create_initialization_options())


async def _relay_requests(
    read: Any, into: MemoryObjectSendStream[SessionMessage | Exception], pending: PendingRequests
) -> None:
    async with into:
        async for item in read:
            if not isinstance(item, Exception):
                pending.note_incoming(item.message)
            await into.send(item)
        with anyio.move_on_after(_DRAIN_TIMEOUT):
            await pending.wait_until_empty()


async def _relay_answers(
    out_of: MemoryObjectReceiveStream[SessionMessage], write: Any, pending: PendingRequests
) -> None:
    async with write:
        async for item in out_of:
            await write.send(item)
            pending.note_outgoing(item.message)
