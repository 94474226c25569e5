"""`marid config`: every setting in force, where it came from, and the files that were looked at."""

import json
import os

import click
from click.core import ParameterSource

from marid.app.adjusting import named
from marid.app.app import App
from marid.core.effective import effective
from marid.core.errors import BadInput
from marid.core.settings import Resolved, files_of
from marid.faces.cli.exits import print_out, say
from marid.faces.cli.names import NameOption
from marid.text.visible import shown_path

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group("config", invoke_without_command=True, context_settings=_HELP)
@click.pass_context
def command(ctx: click.Context, conversation: str) -> None:
    """Show the settings in force, a line each; secrets only as set or unset."""
    if ctx.invoked_subcommand is None:
        _show(_resolved(ctx, conversation), origin=False)
    elif conversation and ctx.get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        raise BadInput(f"-C comes after `config {ctx.invoked_subcommand}`")


@command.command("show")
@click.option("--origin", is_flag=True, help="Say where each came from.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object, always with origins.")
@click.pass_context
def show(ctx: click.Context, conversation: str, *, origin: bool, as_json: bool) -> None:
    """Print every setting in force."""
    resolved = _resolved(ctx, conversation)
    if as_json:
        table = {one.key: {"value": one.value, "origin": one.origin} for one in effective(resolved)}
        print_out(json.dumps(table, indent=2, ensure_ascii=False))
    else:
        _show(resolved, origin=origin)


@command.command("path")
@click.pass_context
def path(ctx: click.Context, conversation: str) -> None:
    """Print the settings files, weak to strong, and whether they are there."""
    app: App = ctx.obj()
    for file in filter(None, files_of(app.settings.home, app.project, conversation and named(app, conversation))):
        print_out(f"{shown_path(file)}{'' if os.path.exists(file) else '  (not there)'}")


def _resolved(ctx: click.Context, name: str) -> Resolved:
    app: App = ctx.obj()
    return app.resolve(name and named(app, name), {})


def _show(resolved: Resolved, *, origin: bool) -> None:
    for note in resolved.notes:
        say(note)
    for one in effective(resolved):
        print_out(f"{one.key} = {one.text}" + (f"  # {shown_path(one.origin)}" if origin else ""))


for _inner in (command, show, path):
    _inner.params.append(NameOption("As they are for this conversation."))
