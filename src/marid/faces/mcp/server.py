"""The MCP server: lists tools, calls them in threads, and turns every error into words, once."""

import os
import signal
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from marid import __version__
from marid.core.errors import BadInput, MaridError
from marid.faces.mcp.tool import Arguments, Tool, log
from marid.faces.mcp.wire import serve_stdio

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server, ServerRequestContext

# Each call may hold a whole context in memory.
_AT_ONCE = 4
_INTERRUPTED = 130
_BROKE = "broke: this is a bug in marid, not in the request; the log of the server (its stderr) says more"


class Calls:
    """Finds the tool, runs it beside the event loop, and answers whatever happens."""

    def __init__(self, tools: Sequence[Tool], *, debug: bool = False) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._debug = debug

    def call(self, name: str, arguments: Arguments) -> tuple[str, bool]:
        """The text of the answer, and whether it is an error. In a thread of anyio's: a cancelled call ends there."""
        from anyio.from_thread import check_cancelled

        try:
            return self._tool(name).call(arguments, check_cancelled), False
        except MaridError as error:
            return str(error), True
        except Exception as error:  # noqa: BLE001 - the outermost ring of a call: a bug must not end the server
            self._bug(name, error)
            return f"{name} {_BROKE}", True

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise BadInput(f"there is no tool '{name}'; there are {', '.join(self._tools)}")
        return self._tools[name]

    def _bug(self, name: str, error: Exception) -> None:
        log(f"a bug in {name}: {type(error).__name__}: {error}")
        if not self._debug:
            log("start the server as `marid --debug mcp` to see where")
            return
        import traceback

        traceback.print_exception(error)


def make_server(tools: Sequence[Tool], instructions: str, *, debug: bool = False) -> "Server[Any]":
    """The server over `tools`, for any transport."""
    import anyio
    from mcp import types
    from mcp.server import Server

    calls = Calls(tools, debug=debug)
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def on_list(
        _context: "ServerRequestContext[Any]", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListToolsResult":
        return types.ListToolsResult(tools=[listed(tool) for tool in tools])

    async def on_call(
        _context: "ServerRequestContext[Any]", params: "types.CallToolRequestParams"
    ) -> "types.CallToolResult":
        text, failed = await anyio.to_thread.run_sync(
            calls.call, params.name, params.arguments or {}, abandon_on_cancel=True, limiter=limiter
        )
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server("marid", version=__version__, instructions=instructions, on_list_tools=on_list, on_call_tool=on_call)


def listed(tool: Tool) -> "types.Tool":
    """The tool as clients see it."""
    from mcp import types

    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def run(tools: Sequence[Tool], instructions: str, *, debug: bool) -> None:
    """Serve on standard input and output until the client goes. Ctrl-C ends the process with its exit code."""
    import logging

    import anyio

    # The library tells of every failure with a traceback.
    logging.basicConfig(format="marid: %(message)s", level=logging.INFO if debug else logging.CRITICAL)
    before = signal.signal(signal.SIGINT, _end)
    try:
        anyio.run(serve_stdio, make_server(tools, instructions, debug=debug))
    except* BrokenPipeError:
        log("the client has gone")
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_number: int, _frame: FrameType | None) -> None:
    # At once: a thread that waits for the next line of input cannot be woken, and there is nothing to save.
    os._exit(_INTERRUPTED)
