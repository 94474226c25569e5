"""The MCP server: lists tools, calls them in threads, and turns every error into words, once."""

import os
import signal
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from marid.core.errors import BadInput, MaridError
from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.core.version import __version__
from marid.faces.mcp.elicitation import elicitation_for
from marid.faces.mcp.face_tool import Arguments, FaceTool, log_line
from marid.faces.mcp.stdio import serve_stdio
from marid.toolkit.spec import ToolSpec

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server, ServerRequestContext

    from marid.app.tool_session import ToolSession
    from marid.toolkit.questions import Asker

# Each call may hold a whole context in memory.
_MAX_CONCURRENT = 4
_INTERRUPTED = 130
_BUG_MESSAGE = "broke: this is a bug in marid, not in the request; the log of the server (its stderr) says more"


class CallHandler:
    """Finds the tool, calls it, and answers whatever happens."""

    def __init__(self, tools: Sequence[FaceTool], hands: "ToolSession | None" = None, *, debug: bool = False) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._hands = hands
        self._debug = debug

    async def answer(self, name: str, arguments: Arguments, asker: "Asker | None", limiter: Any) -> tuple[str, bool]:
        """The text of the answer, and whether it is an error."""
        import anyio

        if name not in self._tools and self._hands is not None:
            outcome = await self._hands.call(name, arguments, asker=asker)
            return outcome.text, not outcome.ok
        return await anyio.to_thread.run_sync(self.call, name, arguments, abandon_on_cancel=True, limiter=limiter)

    def call(self, name: str, arguments: Arguments) -> tuple[str, bool]:
        """The same for a tool of this face. In a thread of anyio's: a cancelled call ends there."""
        from anyio.from_thread import check_cancelled

        try:
            return self._find_tool(name).call(arguments, check_cancelled), False
        except MaridError as error:
            return str(error), True
        except Exception as error:  # noqa: BLE001 - the outermost ring of a call: a bug must not end the server
            self._log_bug(name, error)
            return f"{name} {_BUG_MESSAGE}", True

    def list_tools(self) -> "list[types.Tool]":
        """All of them as clients see them."""
        own = [describe_face_tool(tool) for tool in self._tools.values()]
        return own + (
            [describe_inventory_tool(name, spec) for name, spec in self._hands.tools_by_name()] if self._hands else []
        )

    def _find_tool(self, name: str) -> FaceTool:
        if name not in self._tools:
            raise BadInput(f"there is no tool '{name}'; there are {', '.join(self._tools)}")
        return self._tools[name]

    def _log_bug(self, name: str, error: Exception) -> None:
        log_line(f"a bug in {name}: {type(error).__name__}: {error}")
        if not self._debug:
            log_line("start the server as `marid --debug all mcp` to see where")
            return
        import traceback

        traceback.print_exception(error)


def make_server(
    tools: Sequence[FaceTool], instructions: str, hands: "ToolSession | None" = None, *, debug: bool = False
) -> "Server[Any]":
    """The server over tools of this face and those of the inventory, for any transport."""
    import anyio
    from mcp import types
    from mcp.server import Server

    calls = CallHandler(tools, hands, debug=debug)
    limiter = anyio.CapacityLimiter(_MAX_CONCURRENT)

    async def on_list(
        _context: "ServerRequestContext[Any]", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListToolsResult":
        return types.ListToolsResult(tools=calls.list_tools())

    async def on_call(
        context: "ServerRequestContext[Any]", params: "types.CallToolRequestParams"
    ) -> "types.CallToolResult":
        asker = elicitation_for(context)
        text, failed = await calls.answer(params.name, params.arguments or {}, asker, limiter)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server("marid", version=__version__, instructions=instructions, on_list_tools=on_list, on_call_tool=on_call)


def describe_face_tool(tool: FaceTool) -> "types.Tool":
    """A tool of this face as clients see it."""
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


def describe_inventory_tool(name: str, spec: ToolSpec) -> "types.Tool":
    """A tool of the inventory as clients see it; what it does to the world follows from its effect."""
    from mcp import types

    from marid.toolkit.params import tool_schema

    harmless = spec.effect in HARMLESS_EFFECTS
    return types.Tool(
        name=name,
        title=name.replace("_", " "),
        description=spec.description,
        input_schema=tool_schema(spec, name),
        annotations=types.ToolAnnotations(
            read_only_hint=harmless,
            destructive_hint=spec.effect in (Effect.WRITE, Effect.EXEC, Effect.SPAWN),
            idempotent_hint=harmless,
            open_world_hint=spec.effect in (Effect.NET, Effect.EXEC),
        ),
    )


def run_server(tools: Sequence[FaceTool], instructions: str, hands: "ToolSession | None", *, debug: bool) -> None:
    """Serve on standard input and output until the client goes. Ctrl-C ends the process with its exit code."""
    import logging

    import anyio

    # The library tells of every failure with a traceback.
    logging.basicConfig(format="marid: %(message)s", level=logging.INFO if debug else logging.CRITICAL)
    before = signal.signal(signal.SIGINT, _exit_on_interrupt)
    try:
        anyio.run(serve_stdio, make_server(tools, instructions, hands, debug=debug))
    except* BrokenPipeError:
        log_line("the client has gone")
    finally:
        signal.signal(signal.SIGINT, before)


def _exit_on_interrupt(_number: int, _frame: FrameType | None) -> None:
    # At once: a thread that waits for the next line of input cannot be woken, and there is nothing to save.
    os._exit(_INTERRUPTED)
