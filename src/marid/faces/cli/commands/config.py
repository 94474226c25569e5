"""`marid config`: every setting in force, where it came from, and the files that were looked at."""

import json
import os

import click
from click.core import ParameterSource

from marid.app.app import App
from marid.app.conversation_settings import conversation_name
from marid.core.errors import BadInput
from marid.core.settings.values import ResolvedSettings, settings_files
from marid.core.settings.view import effective_settings
from marid.faces.cli.argv.conversation_params import ConversationOption
from marid.faces.cli.view.console import print_line, print_note
from marid.text.display import quote_path

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group("config", invoke_without_command=True, context_settings=_HELP)
@click.pass_context
def command(ctx: click.Context, conversation: str) -> None:
    """Show the settings in force, a line each; secrets only as set or unset."""
    if ctx.invoked_subcommand is None:
        _show(_resolve_settings(ctx, conversation), origin=False)
    elif conversation and ctx.get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        raise BadInput(f"-C comes after `config {ctx.invoked_subcommand}`")


@command.command("show")
@click.option("--origin", is_flag=True, help="Say where each came from.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object, always with origins.")
@click.pass_context
def show(ctx: click.Context, conversation: str, *, origin: bool, as_json: bool) -> None:
    """Print every setting in force."""
    resolved = _resolve_settings(ctx, conversation)
    if as_json:
        table = {one.key: {"value": one.value, "origin": one.origin} for one in effective_settings(resolved)}
        print_line(json.dumps(table, indent=2, ensure_ascii=False))
    else:
        _show(resolved, origin=origin)


@command.command("path")
@click.pass_context
def path(ctx: click.Context, conversation: str) -> None:
    """Print the settings files, weak to strong, and whether they are there."""
    app: App = ctx.obj()
    own = conversation and app.stores(app.settings).files.settings_folder(conversation_name(app, conversation))
    for file in filter(None, settings_files(app.settings.home, app.project, own)):
        print_line(f"{quote_path(file)}{'' if os.path.exists(file) else '  (not there)'}")


def _resolve_settings(ctx: click.Context, name: str) -> ResolvedSettings:
    app: App = ctx.obj()
    return app.resolve(name and conversation_name(app, name), {})


def _show(resolved: ResolvedSettings, *, origin: bool) -> None:
    for note in resolved.notes:
        print_note(note)
    for one in effective_settings(resolved):
        print_line(f"{one.key} = {one.text}" + (f"  # {quote_path(one.origin)}" if origin else ""))


for _inner in (command, show, path):
    _inner.params.append(ConversationOption("As they are for this conversation."))
