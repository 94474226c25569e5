"""The MCP server: lists the tools of a session and calls them."""

import os
import signal
from types import FrameType
from typing import TYPE_CHECKING, Any

from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.core.version import __version__
from marid.faces.mcp.elicitation import elicitation_for
from marid.faces.mcp.stdio import log_line, serve_stdio
from marid.toolkit.spec import ToolSpec

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server, ServerRequestContext

    from marid.app.tool_session import ToolSession

_INTERRUPTED = 130


def make_server(session: "ToolSession", instructions: str) -> "Server[Any]":
    """A server for any transport."""
    from mcp import types
    from mcp.server import Server

    async def on_list(
        _context: "ServerRequestContext[Any]", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListToolsResult":
        return types.ListToolsResult(tools=[describe_tool(name, spec) for name, spec in session.tools_by_name()])

    async def on_call(
        context: "ServerRequestContext[Any]", params: "types.CallToolRequestParams"
    ) -> "types.CallToolResult":
        outcome = await session.call(params.name, params.arguments or {}, asker=elicitation_for(context))
        content = types.TextContent(type="text", text=outcome.text)
        return types.CallToolResult(content=[content], is_error=not outcome.ok)

    return Server("marid", version=__version__, instructions=instructions, on_list_tools=on_list, on_call_tool=on_call)


def describe_tool(name: str, spec: ToolSpec) -> "types.Tool":
    """A tool as clients see it; the hints follow from its effect."""
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


def run_server(session: "ToolSession", instructions: str, *, debug: bool) -> None:
    """Serve on stdin and stdout until the client closes them. Ctrl-C ends the process with its exit code."""
    import logging

    import anyio

    # The library logs every failure with a traceback.
    logging.basicConfig(format="marid: %(message)s", level=logging.INFO if debug else logging.CRITICAL)
    before = signal.signal(signal.SIGINT, _exit_on_interrupt)
    try:
        anyio.run(serve_stdio, make_server(session, instructions))
    except* BrokenPipeError:
        log_line("the client has gone")
    finally:
        signal.signal(signal.SIGINT, before)


def _exit_on_interrupt(_number: int, _frame: FrameType | None) -> None:
    # At once: a thread that waits for the next line of input cannot be woken, and there is nothing to save.
    os._exit(_INTERRUPTED)
