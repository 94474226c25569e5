"""The whole command line, by click: finds the command, helps, completes."""

import sys
from contextlib import suppress
from importlib import import_module
from typing import cast

import click
from click.shell_completion import shell_complete

from marid.bootstrap.environment import completion_asked, no_plugins
from marid.bootstrap.wiring import build
from marid.core.errors import MaridError
from marid.core.version import __version__
from marid.faces.cli.greeting import greet
from marid.launch.table import COMMANDS, LINKS


class Program(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return find_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])


def find_command(name: str) -> click.Command | None:
    """The command of that name, imported now."""
    if name not in COMMANDS:
        return None
    module, _, attribute = COMMANDS[name].place.partition(":")
    return cast("click.Command", getattr(import_module(module), attribute))


@click.command(cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="marid %(version)s")
@click.option("--home", metavar="DIR", help="Where marid keeps its own files (MARID_HOME, else ~/.marid).")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.pass_context
def program(ctx: click.Context, home: str | None, *, debug: bool) -> None:
    """Context, memory, hands and knowledge for you and any LLM, on your own code.

    Start with `marid context` in a project, or `marid overview`.
    """
    ctx.obj = lambda: build(home=home)
    ctx.meta["marid.debug"] = debug
    if ctx.invoked_subcommand is None:
        if not sys.stdout.isatty():
            click.echo(ctx.get_help())
            return
        greet(build(home=home))


def main(called: str, args: list[str]) -> int:
    """Run a command line by click. Called by the name of a program that marid replaces, it is that program.

    Not by click's own `main`: that one takes a reader who has gone for a failure.
    """
    no_plugins()
    link = find_command(LINKS[called]) if called in LINKS else None
    name, command = ("marid", program) if link is None else (called, link)
    if asked := completion_asked(name):
        # A wrong word or setting on the line: whoever presses a key for help wants words or nothing, no complaint.
        with suppress(MaridError):
            return shell_complete(command, {"obj": build}, name, *asked)
        return 0
    try:
        with command.make_context(name, args, obj=build) as ctx:
            result: object = command.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return result if isinstance(result, int) else 0
