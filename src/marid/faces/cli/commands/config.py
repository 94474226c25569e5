"""`marid config`: the settings in force, where each comes from, and the settings files."""

import json
import os

import click
from click.core import ParameterSource

from marid.app.app import RequestScope
from marid.app.conversation_settings import conversation_name
from marid.core.errors import BadInput
from marid.core.settings.values import ResolvedSettings, settings_files
from marid.core.settings.view import effective_settings
from marid.faces.cli.argv.conversation_params import ConversationOption
from marid.faces.cli.argv.help_command import HelpCommand, HelpGroup
from marid.faces.cli.view.console import print_line, print_note
from marid.text.display import quote_path


@click.group("config", cls=HelpGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context, conversation: str) -> None:
    """Show the settings in force, one per line; secrets only as set or unset."""
    if ctx.invoked_subcommand is None:
        _show(_resolve_settings(ctx, conversation), origin=False)
    elif conversation and ctx.get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        raise BadInput(f"put -C after `config {ctx.invoked_subcommand}`")


@command.command("show", cls=HelpCommand)
@click.option("--origin", is_flag=True, help="Show where each value comes from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with origins.")
@click.pass_context
def show(ctx: click.Context, conversation: str, *, origin: bool, as_json: bool) -> None:
    """Show every setting in force."""
    resolved = _resolve_settings(ctx, conversation)
    if as_json:
        table = {one.key: {"value": one.value, "origin": one.origin} for one in effective_settings(resolved)}
        print_line(json.dumps(table, indent=2, ensure_ascii=False))
    else:
        _show(resolved, origin=origin)


@command.command("path", cls=HelpCommand)
@click.pass_context
def path(ctx: click.Context, conversation: str) -> None:
    """List the settings files, weakest first, and whether each exists."""
    scope: RequestScope = ctx.obj()
    own = conversation and scope.stores.files.settings_folder(conversation_name(scope, conversation))
    for file in filter(None, settings_files(scope.home, scope.project, own)):
        print_line(f"{quote_path(file)}{'' if os.path.exists(file) else '  (missing)'}")


def _resolve_settings(ctx: click.Context, name: str) -> ResolvedSettings:
    scope: RequestScope = ctx.obj()
    return scope.within(name and conversation_name(scope, name)).resolve()


def _show(resolved: ResolvedSettings, *, origin: bool) -> None:
    for note in resolved.notes:
        print_note(note)
    for one in effective_settings(resolved):
        print_line(f"{one.key} = {one.text}" + (f"  # {quote_path(one.origin)}" if origin else ""))


for _inner in (command, show, path):
    _inner.params.append(ConversationOption("Show the settings of this conversation."))
