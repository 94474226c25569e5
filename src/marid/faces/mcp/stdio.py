"""The wire: standard input and output, kept open until every request that came in has its answer.

Without this a client that writes its requests and closes its end, as a shell pipe does, would get no answers.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server import Server
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

# Whoever closed the wire does not wait longer than this for what is still being made.
_DRAIN_TIMEOUT = 60.0


class PendingRequests:
    """The requests that have no answer yet, by id. An id may come back as a text: 1 and "1" are the same."""

    def __init__(self) -> None:
        import anyio

        self._ids: set[str] = set()
        self._changed = anyio.Event()

    def note_incoming(self, message: "JSONRPCMessage") -> None:
        """A message from the client: a request, or word that it no longer waits for one."""
        from mcp.types import JSONRPCNotification, JSONRPCRequest

        if isinstance(message, JSONRPCRequest):
            self._ids.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._discard((message.params or {}).get("requestId"))

    def note_outgoing(self, message: "JSONRPCMessage") -> None:
        """A message to the client: an answer, or something else."""
        from mcp.types import JSONRPCError, JSONRPCResponse

        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._discard(message.id)

    async def wait_until_empty(self) -> None:
        """Wait until there are none."""
        import anyio

        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()

    def _discard(self, number: object) -> None:
        self._ids.discard(str(number))
        self._changed.set()


async def serve_stdio(server: "Server[Any]") -> None:
    """Serve one client until it closes its end.

    Raises: BrokenPipeError, perhaps in a group, when the client has gone without waiting for its answers.
    """
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage

    unanswered = PendingRequests()
    into, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, out_of = anyio.create_memory_object_stream[SessionMessage](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(_relay_requests, read, into, unanswered)
        tasks.start_soon(_relay_answers, out_of, write, unanswered)
        await server.run(requests, answers, server.create_initialization_options())


async def _relay_requests(
    read: Any, into: "MemoryObjectSendStream[SessionMessage | Exception]", unanswered: PendingRequests
) -> None:
    import anyio

    async with into:
        async for item in read:
            if not isinstance(item, Exception):
                unanswered.note_incoming(item.message)
            await into.send(item)
        with anyio.move_on_after(_DRAIN_TIMEOUT):
            await unanswered.wait_until_empty()


async def _relay_answers(
    out_of: "MemoryObjectReceiveStream[SessionMessage]", write: Any, unanswered: PendingRequests
) -> None:
    async with write:
        async for item in out_of:
            await write.send(item)
            unanswered.note_outgoing(item.message)
