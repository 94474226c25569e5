"""The command `marid mcp`."""

import os
from dataclasses import replace
from typing import Any

import click

from marid.app.app import App
from marid.app.reach import Reach
from marid.core.caller import Caller
from marid.core.errors import BadInput
from marid.core.policy import Effect, Verdict
from marid.faces.flag_options import option_of
from marid.faces.mcp.roots import Roots, roots_of
from marid.faces.mcp.tool import log
from marid.faces.reach import reach_of
from marid.text.visible import shown_text

_HELP = """Serve marid's tools to an MCP client over stdin and stdout.

Clients start this command themselves; docs/mcp.md has the lines for their configuration. Only what lies below a root is
touched: the folders given with --root, else the project that the working directory belongs to. Tools that write, run
or use the network ask first, through the client if it can ask, unless --allow grants it.
"""
_CONTEXT = "context"


def _serve(ctx: click.Context, tools: str | None, roots: tuple[str, ...], **flags: Any) -> None:
    app: App = ctx.obj()
    folders = allowed(app, roots)
    # Imported when used: the help needs none of it.
    from marid.app.hands import open_hands
    from marid.faces.mcp.read_context import read_context
    from marid.faces.mcp.server import run

    families = [word.strip() for word in tools.split(",") if word.strip()] if tools else []
    own = [read_context(app, folders)] if (not families or _CONTEXT in families) and may_read(app) else []
    wanted = tuple(family for family in families if family != _CONTEXT)
    known = (_CONTEXT, *app.toolbox().alone.families)
    if unknown := [family for family in wanted if family not in known]:
        raise BadInput(f"no family is called '{shown_text(unknown[0])}'; families are {', '.join(known)}")
    debug: bool = ctx.meta.get("marid.debug", False)
    hands = None
    if wanted or not families:
        reach = replace(reach_of(flags), roots=folders.folders, families=wanted)
        hands = open_hands(app, reach, Caller(face="mcp"), note=log)
    run(own, instructions(folders), hands, debug=debug)


def may_read(app: App) -> bool:
    """Whether policy lets everybody read: `read_context` can ask nobody, so it is not there where it would have to."""
    from marid.app.hands import policy_of

    policy = policy_of(app.settings, Reach(), app.toolbox().inventory.names())
    return policy.verdict(Effect.READ) is Verdict.ALLOW


def allowed(app: App, given: tuple[str, ...]) -> Roots:
    """The folders that may be read.

    Raises: BadInput where none is given and no project is found, only the whole disk.
    """
    if given or app.settings.roots:
        return roots_of(given or app.settings.roots, app.cwd)
    roots = roots_of([app.project], app.cwd)
    (root,) = roots.folders
    if root == os.path.dirname(root):
        raise BadInput("the working directory belongs to no project: name what may be read with --root DIR")
    home = os.path.realpath(app.means.user.home)
    if home == root or home.startswith(f"{root}/"):
        log("your whole home folder may be read: name the projects with --root DIR")
    return roots


def instructions(roots: Roots) -> str:
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
        *(option_of(name) for name in ("roots", "files")),
        click.Option(["--tools"], metavar="FAMILIES", help="Only these families, such as context,files,python."),
        *(option_of(name) for name in ("allow", "trust", "read_only", "wait")),
    ],
    callback=click.pass_context(_serve),
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
