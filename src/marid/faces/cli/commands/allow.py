"""`marid allow`: paths outside of the project that tools may use."""

import os

import click

from marid.app import allowed_paths
from marid.app.app import RequestScope
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.view.console import print_line, print_note
from marid.text.display import quote_path


@click.command("allow", cls=HelpCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--remove", is_flag=True, help="Remove PATH from the list.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], *, remove: bool) -> None:
    """Let tools use PATH outside of the project from now on: a file, or a folder and everything in it.

    Without PATH, list what is allowed. The list is `files` in your config.toml.
    """
    scope: RequestScope = ctx.obj()
    if not paths:
        allowed = allowed_paths.list_allowed(scope)
        for path in allowed:
            print_line(quote_path(path))
        if not allowed:
            print_note("nothing outside of the project is allowed; `marid allow PATH` adds a path")
        return
    for path in paths:
        if remove:
            print_note(f"no longer allowed: {quote_path(allowed_paths.forget(scope, path))}")
            continue
        place = allowed_paths.allow(scope, path)
        print_note(f"allowed: {quote_path(place)}{'/' if os.path.isdir(place) else ''}")
