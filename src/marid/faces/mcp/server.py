"""The MCP server: lists the tools of a session, calls them, and asks the user through the client."""

import logging
import os
import signal
import time
from dataclasses import replace
from types import FrameType
from typing import Any

import anyio
from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from marid.app.app import RequestScope
from marid.app.tool_session import ToolSession, access_from_flags, notice_listener, open_tools
from marid.core.policy.approval import NO_LIMIT, ApprovalAnswer, Decline, Question
from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.core.version import __version__
from marid.faces.mcp.stdio import log_line, serve_stdio
from marid.toolkit.params import tool_schema
from marid.toolkit.spec import ToolSpec

_INTERRUPTED = 130


def open_session(scope: RequestScope, families: str, flags: dict[str, Any]) -> tuple[ToolSession, str]:
    """The tools that the flags ask for, and what a client tells its model about them.

    Raises: BadInput, NotFound for flags that do not make sense.
    """
    words = tuple(word for word in map(str.strip, families.split(",")) if word)
    access = replace(access_from_flags(flags), families=words)
    session = open_tools(scope, access, listener=notice_listener(log_line))
    roots = [root.path for root in session.call_scope.path_scope.guarded_roots if not root.only_file]
    home = os.path.realpath(scope.app.context_ports.user_git_files.home)
    if not (access.roots or scope.settings.tools.roots) and any(f"{home}/".startswith(f"{root}/") for root in roots):
        log_line("tools can read your whole home folder: name the projects with --root DIR")
    return session, (
        f"Tools to read, understand, edit and run the code below: {', '.join(roots)}. Relative paths start at the "
        "first of these. read_context gives the source files of a folder as one text, chosen by the project's own "
        "ignore rules."
    )


def make_server(session: ToolSession, instructions: str) -> Server[Any]:
    """A server for any transport."""

    async def on_list(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(name, spec) for name, spec in session.tools_by_name()])

    async def on_call(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        outcome = await session.call(params.name, params.arguments or {}, asker=elicitation_for(context))
        content = types.TextContent(type="text", text=outcome.text)
        return types.CallToolResult(content=[content], is_error=not outcome.ok)

    return Server("marid", version=__version__, instructions=instructions, on_list_tools=on_list, on_call_tool=on_call)


def describe_tool(name: str, spec: ToolSpec) -> types.Tool:
    """A tool as clients see it; the hints follow from its effect."""
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


def elicitation_for(context: ServerRequestContext[Any]) -> "Elicitation | None":
    """An asker, if the client can ask its user."""
    session = context.session
    able = session.client_capabilities
    if able is None or able.elicitation is None or not session.can_send_request:
        return None
    return Elicitation(session, context.request_id)


class Elicitation:
    """Shows the question in the client and takes the user's choice; closing the form is a no."""

    def __init__(self, session: ServerSession, request: str | int | None) -> None:
        self._session = session
        self._request = request

    async def ask(self, question: Question) -> ApprovalAnswer | Decline | None:
        """The user's answer; None if the client cannot ask after all."""
        offered = [answer.value for answer in ApprovalAnswer if question.always or answer is not ApprovalAnswer.ALWAYS]
        schema = {
            "type": "object",
            "properties": {
                "answer": {"type": "string", "title": "Allow it?", "enum": offered},
                "reason": {"type": "string", "title": "If not: what should the model know?"},
            },
            "required": ["answer"],
        }
        always = f"\n(always: {question.covers})" if question.always else ""
        left = question.expires - time.time()
        limit = "" if left == NO_LIMIT else f"\n(declined unless answered within {max(0, left):.0f} s)"
        message = f"{question.tool}:\n{question.text}{always}{limit}"
        try:
            reply = await self._session.elicit_form(message, schema, self._request)
        except MCPError:
            return None
        content = reply.content or {}
        answer = content.get("answer") if reply.action == "accept" else None
        if answer in offered and answer != ApprovalAnswer.NO.value:
            return ApprovalAnswer(answer)
        return Decline(str(content["reason"])) if content.get("reason") else ApprovalAnswer.NO


def run_server(session: ToolSession, instructions: str, *, debug: bool) -> None:
    """Serve on stdin and stdout until the client closes them. Ctrl-C ends the process with its exit code."""
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
