"""The command `marid mcp`."""

from typing import Any

import click

from marid.app.app import RequestScope
from marid.core.caller import Caller
from marid.faces.click_command import HelpCommand, click_option

_PARAMS: list[click.Parameter] = [
    *map(click_option, ("roots", "files")),
    click.Option(["--tools"], metavar="FAMILIES", help="Only these families, such as context,files,python."),
    *map(click_option, ("allow", "trust", "read_only", "wait")),
]


@click.command("mcp", cls=HelpCommand, params=_PARAMS)
@click.pass_context
def command(ctx: click.Context, tools: str | None, **flags: Any) -> None:
    """Serve marid's tools to an MCP client over stdin and stdout.

    Clients start this command themselves; docs/mcp.md has the lines for their configuration. Tools touch only what is
    below a root: the folders given with --root, or else the project of the working directory. Tools that write, run
    commands or use the network ask first, through the client if it can ask, unless --allow permits it.
    """
    scope: RequestScope = ctx.obj()._replace(caller=Caller(face="mcp"))
    # Imported when used: the library costs more than the help does.
    from marid.faces.mcp.server import open_session, run_server

    session, instructions = open_session(scope, tools or "", flags)
    run_server(session, instructions, debug=ctx.meta.get("marid.debug", False))
