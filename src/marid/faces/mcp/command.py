"""The command `marid mcp`."""

import os

import click

from marid.app.app import App
from marid.core.errors import BadInput
from marid.faces.mcp.roots import Roots, roots_of
from marid.faces.mcp.tool import log

_HELP = """Serve read_context to an MCP client over stdin and stdout.

Clients start this command themselves; docs/mcp.md has the lines for their configuration. Only folders below a root are
read: those given with --root, else the project that the working directory belongs to.
"""


@click.command("mcp", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--root",
    "given",
    metavar="DIR",
    multiple=True,
    type=click.Path(file_okay=False),
    help="A folder that may be read; repeatable.",
)
@click.pass_context
def command(ctx: click.Context, given: tuple[str, ...]) -> None:
    """Carry it out."""
    app: App = ctx.obj()
    roots = allowed(app, given)
    # Imported when used: the help needs none of it.
    from marid.faces.mcp.read_context import read_context
    from marid.faces.mcp.server import run

    run([read_context(app, roots)], instructions(roots), debug=ctx.meta.get("marid.debug", False))


def allowed(app: App, given: tuple[str, ...]) -> Roots:
    """The folders that may be read.

    Raises: BadInput where none is given and no project is found, only the whole disk.
    """
    if given:
        return roots_of(given, app.cwd)
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
        "read_context gives the source files of a folder as one text, chosen by the project's own ignore rules. "
        f"It may read below: {folders}"
    )
