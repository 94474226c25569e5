"""The commands, by click: finds one, helps, completes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, cast

import click

from marid.app.app import RequestScope
from marid.bootstrap.environment import completion_request
from marid.bootstrap.wiring import open_request
from marid.core.errors import BadInput, MaridError
from marid.faces.cli.argv.command_line import CommandLine, flag_spellings, flag_values
from marid.faces.cli.argv.completion import complete as answer
from marid.faces.cli.argv.params import ConversationArgument, ConversationOption
from marid.faces.flags import LEADING_FLAGS, LOCATION_FLAGS
from marid.faces.help_page import help_page
from marid.launch.commands import COMMANDS, LINKS, command_groups, commands_for, program_name, summaries

# How a command calls what is a flag of the line.
_PARAMETER_ALIASES: Mapping[str, str] = {"marid_json": "as_json"}


class Program(click.Group):
    """A group that knows its commands by name and imports one only to run it. Click does not see its flags."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands_for(str(self.name)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return find_command(cmd_name)

    def get_help(self, ctx: click.Context) -> str:
        name = str(self.name)
        return help_page(summaries(name), command_groups(name), name, width=ctx.terminal_width or 0)


def find_command(name: str) -> click.Command | None:
    """The command of that name, imported now."""
    if name not in COMMANDS:
        return None
    module, _, attribute = COMMANDS[name].target.partition(":")
    return cast("click.Command", getattr(import_module(module), attribute))


program = Program("marid")


def complete(called: str) -> int | None:
    """Answer a shell that asks for completions; None if no shell asks."""
    name = program_name(called)
    asked = completion_request(name.replace("-", "_"))
    if asked is None:
        return None
    command = find_command(LINKS.get(called, "")) or Program(name)
    # A wrong word or setting on the line: a shell wants completions or nothing, no error message.
    with suppress(MaridError):
        return answer(command, open_request, name, asked)
    return 0


def run_command(line: CommandLine, open_scope: Callable[..., RequestScope], called: str = "marid") -> int:
    """Run the command of a line after what its flags ask for, and pass it the flags that it knows.

    `called` is the name of the program; one that marid replaces is the command itself. Not by click's own `main`, which
    takes a closed pipe for a failure.

    Raises: BadInput for a flag that the command does not have.
    """
    command = cast("click.Command", find_command(line.command))
    _reject_unknown_flags(line, command)
    name = ""
    if line.given.keys() & {"conversation", *LEADING_FLAGS}:
        from marid.faces.cli.line_runner import start_run

        run = start_run(line, open_scope)
        name, open_scope = run.name if line.has("conversation") else "", partial(_reuse_scope, run.scope, open_scope)
    defaults = {line.command: _defaults(line, command, name)}
    outer, args = (command, [*line.rest]) if called in LINKS else (program, [line.command, *line.rest])
    try:
        with outer.make_context(called, args, obj=open_scope, default_map=defaults) as ctx:
            ctx.meta["marid.debug"] = line.has("debug")
            result: object = outer.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        with suppress(OSError):  # stderr is closed
            error.show()
        return error.exit_code
    return result if isinstance(result, int) else 0


def _reuse_scope(
    scope: RequestScope, open_scope: Callable[..., RequestScope], *, home: str = "", project: str = ""
) -> RequestScope:
    """The request that the flags of the line have begun, unless a JSON request names another home or project."""
    return open_scope(home=home or scope.home, project=project or scope.project) if home or project else scope


def _reject_unknown_flags(line: CommandLine, command: click.Command) -> None:
    own = _parameters(command)
    known = {*LOCATION_FLAGS, *LEADING_FLAGS, *(_PARAMETER_ALIASES.get(name, name) for name in own)}
    if any(map(_names_conversation, own.values())):
        known.add("conversation")
    if unknown := flag_spellings(line, [name for name in line.given if name not in known]):
        raise BadInput(f"`marid {line.command}` has no flag {unknown[0]}; its own flags come after its name")


def _names_conversation(param: click.Parameter) -> bool:
    return isinstance(param, ConversationArgument | ConversationOption)


def _parameters(command: click.Command) -> Mapping[str, click.Parameter]:
    """Those of the command, and of the commands in it as far as they are known already."""
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return {str(param.name): param for one in (*inner, command) for param in one.params}


def _defaults(line: CommandLine, command: click.Command, conversation: str) -> dict[str, Any]:
    """What the flags of the line mean for the parameters of the command."""
    options = flag_values(line)
    found: dict[str, Any] = {}
    for name, param in _parameters(command).items():
        flag = _PARAMETER_ALIASES.get(name, name)
        if flag in line.given and flag != "conversation":
            found[name] = options[flag]
        elif conversation and _names_conversation(param):
            found[name] = (conversation,) if param.nargs == -1 else conversation
    inner = list(command.commands) if isinstance(command, click.Group) else []
    return {**found, **dict.fromkeys(inner, found)}
