"""The command `marid mcp`."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from marid.app.app import RequestScope
from marid.core.caller import Caller
from marid.faces.access_flags import access_from_flags
from marid.faces.flag_options import click_option
from marid.faces.mcp.stdio import log_line

if TYPE_CHECKING:
    from marid.app.tool_session import ToolSession

_HELP = """Serve marid's tools to an MCP client over stdin and stdout.

Clients start this command themselves; docs/mcp.md has the lines for their configuration. Tools touch only what is below
a root: the folders given with --root, or else the project of the working directory. Tools that write, run commands or
use the network ask first, through the client if it can ask, unless --allow permits it.
"""


def _serve(ctx: click.Context, tools: str | None, **flags: Any) -> None:
    from marid.faces.mcp.server import run_server  # imported when used: the help does not need it

    session, instructions = open_session(ctx.obj()._replace(caller=Caller(face="mcp")), tools or "", flags)
    run_server(session, instructions, debug=ctx.meta.get("marid.debug", False))


def open_session(scope: RequestScope, families: str, flags: dict[str, Any]) -> "tuple[ToolSession, str]":
    """The tools that the flags ask for, and what a client tells its model about them.

    Raises: BadInput, NotFound for flags that do not make sense.
    """
    from marid.app.tool_session import notice_listener, open_tools  # imported when used: the help does not need it

    words = tuple(word for word in map(str.strip, families.split(",")) if word)
    access = replace(access_from_flags(flags), families=words)
    session = open_tools(scope, access, listener=notice_listener(log_line))
    roots = [root.path for root in session.call_scope.path_scope.guarded_roots if not root.only_file]
    home = os.path.realpath(scope.app.context_ports.user_git_files.home)
    if not (access.roots or scope.settings.tools.roots) and any(f"{home}/".startswith(f"{root}/") for root in roots):
        log_line("your whole home folder may be read: name the projects with --root DIR")
    return session, (
        f"Tools to read, understand, edit and run the code below: {', '.join(roots)}. Relative paths start at the "
        "first of these. read_context gives the source files of a folder as one text, chosen by the project's own "
        "ignore rules."
    )


command = click.Command(
    "mcp",
    params=[
        *(click_option(name) for name in ("roots", "files")),
        click.Option(["--tools"], metavar="FAMILIES", help="Only these families, such as context,files,python."),
        *(click_option(name) for name in ("allow", "trust", "read_only", "wait")),
    ],
    callback=click.pass_context(_serve),
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
