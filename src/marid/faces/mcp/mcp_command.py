"""The command `marid mcp`."""

import os
from dataclasses import replace
from typing import Any

import click

from marid.app.app import App
from marid.app.tool_access import ToolAccess
from marid.core.caller import Caller
from marid.core.errors import BadInput
from marid.core.policy.policy import Effect, Verdict
from marid.faces.access_flags import access_from_flags
from marid.faces.flag_options import click_option
from marid.faces.mcp.face_tool import log_line
from marid.faces.mcp.roots import AllowedRoots, resolve_roots
from marid.text.display import escape_text

_HELP = """Serve marid's tools to an MCP client over stdin and stdout.

Clients start this command themselves; docs/mcp.md has the lines for their configuration. Only what lies below a root is
touched: the folders given with --root, else the project that the working directory belongs to. Tools that write, run
or use the network ask first, through the client if it can ask, unless --allow grants it.
"""
_CONTEXT_FAMILY = "context"


def _serve(ctx: click.Context, tools: str | None, roots: tuple[str, ...], **flags: Any) -> None:
    app: App = ctx.obj()
    folders = allowed_roots(app, roots)
    # Imported when used: the help needs none of it.
    from marid.app.tool_session import notice_listener, open_tools
    from marid.faces.mcp.read_context import read_context_tool
    from marid.faces.mcp.server import run_server

    families = [word.strip() for word in tools.split(",") if word.strip()] if tools else []
    own = [read_context_tool(app, folders)] if (not families or _CONTEXT_FAMILY in families) and can_read(app) else []
    wanted = tuple(family for family in families if family != _CONTEXT_FAMILY)
    known = (_CONTEXT_FAMILY, *app.toolbox().standalone.families)
    if unknown := [family for family in wanted if family not in known]:
        raise BadInput(f"no family is called '{escape_text(unknown[0])}'; families are {', '.join(known)}")
    debug: bool = ctx.meta.get("marid.debug", False)
    hands = None
    if wanted or not families:
        reach = replace(access_from_flags(flags), roots=folders.folders, families=wanted)
        hands = open_tools(app, reach, Caller(face="mcp"), listener=notice_listener(log_line))
    run_server(own, instructions(folders), hands, debug=debug)


def can_read(app: App) -> bool:
    """Whether policy lets everybody read: `read_context` can ask nobody, so it is not there where it would have to."""
    from marid.app.tool_session import build_policy

    policy = build_policy(app.settings, ToolAccess(), app.toolbox().inventory.names())
    return policy.verdict(Effect.READ) is Verdict.ALLOW


def allowed_roots(app: App, given: tuple[str, ...]) -> AllowedRoots:
    """The folders that may be read.

    Raises: BadInput where none is given and no project is found, only the whole disk.
    """
    if given or app.settings.tools.roots:
        return resolve_roots(given or app.settings.tools.roots, app.cwd)
    roots = resolve_roots([app.project], app.cwd)
    (root,) = roots.folders
    if root == os.path.dirname(root):
        raise BadInput("the working directory belongs to no project: name what may be read with --root DIR")
    home = os.path.realpath(app.context_ports.user_git_files.home)
    if home == root or home.startswith(f"{root}/"):
        log_line("your whole home folder may be read: name the projects with --root DIR")
    return roots


def instructions(roots: AllowedRoots) -> str:
    """What a client tells its model about this server."""
    folders = ", ".join(roots.folders)
    return (
        "Tools to read, understand, edit and run the code below: "
        f"{folders}. Relative paths start at the first of these. read_context gives the source files of a folder as "
        "one text, chosen by the project's own ignore rules."
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
