"""`marid config`: the settings in force and their files. `marid links`: the names of programs that marid replaces."""

import json
import os
import sys

import click
from click.core import ParameterSource

from marid.app.app import RequestScope
from marid.app.conversation_settings import conversation_name
from marid.core.errors import BadInput, NotFound, Refused
from marid.core.settings.values import ResolvedSettings, settings_files
from marid.core.settings.view import effective_settings
from marid.faces.cli.argv.params import ConversationOption
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.click_command import HelpCommand, HelpGroup
from marid.text.display import quote_path

_LINK_NAMES = ("jinni", "chibi", "chibi-json")


@click.group("config", cls=HelpGroup, invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context, conversation: str) -> None:
    """Show the settings in force, one per line; secrets only as set or unset."""
    if ctx.invoked_subcommand is None:
        _print_settings(_resolve_settings(ctx.obj(), conversation), origin=False)
    elif conversation and ctx.get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        raise BadInput(f"put -C after `config {ctx.invoked_subcommand}`")


@config.command()
@click.option("--origin", is_flag=True, help="Show where each value comes from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with origins.")
def show(scope: RequestScope, conversation: str, *, origin: bool, as_json: bool) -> None:
    """Show every setting in force."""
    resolved = _resolve_settings(scope, conversation)
    if as_json:
        table = {one.key: {"value": one.value, "origin": one.origin} for one in effective_settings(resolved)}
        print_line(json.dumps(table, indent=2, ensure_ascii=False))
    else:
        _print_settings(resolved, origin=origin)


@config.command()
def path(scope: RequestScope, conversation: str) -> None:
    """List the settings files, weakest first, and whether each exists."""
    own = conversation and scope.stores.files.settings_folder(conversation_name(scope, conversation))
    for file in filter(None, settings_files(scope.home, scope.project, own)):
        print_line(f"{quote_path(file)}{'' if os.path.exists(file) else '  (missing)'}")


def _resolve_settings(scope: RequestScope, name: str) -> ResolvedSettings:
    return scope.within(name and conversation_name(scope, name)).resolve()


def _print_settings(resolved: ResolvedSettings, *, origin: bool) -> None:
    for note in resolved.notes:
        print_note(note)
    for one in effective_settings(resolved):
        print_line(f"{one.key} = {one.text}" + (f"  # {quote_path(one.origin)}" if origin else ""))


for _command in (config, show, path):
    _command.params.append(ConversationOption("Show the settings of this conversation."))


@click.command(cls=HelpCommand)
@click.argument("folder", type=click.Path())
def links(folder: str) -> None:
    """Create links in FOLDER for the programs that marid replaces: jinni, chibi and chibi-json.

    `jinni` is `marid context` with jinni's options, `chibi` has marid's flags and takes a prompt but no commands, and
    `chibi-json` is `marid json`. An existing file that is not a link to marid is never overwritten.
    """
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) != "marid":
        raise BadInput("run the installed program `marid` to link to it")
    if not os.path.isdir(folder):
        raise NotFound(f"{folder}: no such folder")
    for name in _LINK_NAMES:
        print_line(_link(program, os.path.join(folder, name)))


def _link(program: str, place: str) -> str:
    if os.path.islink(place) and os.path.realpath(place) == os.path.realpath(program):
        return f"{place} already exists"
    if os.path.lexists(place):
        raise BadInput(f"{place} exists and is not a link to marid; remove it first")
    try:
        os.symlink(program, place)
    except OSError as error:
        raise Refused(f"{place}: {(error.strerror or 'cannot be created').lower()}") from error
    return f"{place} -> {program}"
