"""`marid context` for click, made from the option table: help, errors and completion."""

from typing import Any

import click

from marid.faces.cli.argv.context_options import GROUPS, OPTIONS, ContextOption, join_optional_values
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.operations.pack_context import run_context

_TYPES: dict[str, click.ParamType[Any] | None] = {"int": click.INT, "float": click.FLOAT}


class ContextCommand(HelpCommand):
    """Shows its options by group."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, join_optional_values(args))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        shown = {param.name: param.get_help_record(ctx) for param in options}
        for title, group in GROUPS:
            with formatter.section(title):
                formatter.write_dl([record for option in group if (record := shown.get(option.name))])
        with formatter.section("Other"):
            known = {option.name for option in OPTIONS}
            formatter.write_dl([record for name, record in shown.items() if name not in known and record])


def _click_option(option: ContextOption) -> click.Option:
    kind: Any = _TYPES.get(option.kind)
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.file:
        kind = click.Path(allow_dash=True)
    arguments: dict[str, Any] = {"help": option.help, "type": kind, "default": option.default}
    if option.kind == "flag":
        arguments = {"help": option.help, "is_flag": True}
    elif option.multiple:
        arguments |= {"multiple": True, "default": ()}
    if option.metavar:
        arguments["metavar"] = option.metavar
    if option.choices:
        arguments["show_default"] = True
        arguments["metavar"] = None
    return click.Option([*option.flags, option.name], **arguments)


@click.pass_context
def _run(ctx: click.Context, **options: Any) -> int:
    if ctx.info_name == "jinni" and not (options["targets"] or options["files_from"]):
        raise click.UsageError("Missing argument '<path>'.", ctx)
    return run_context(options, ctx.obj)


_HELP = """Print the files of a project as one text.

PATH is a file or folder (default: the current folder). A git URL or OWNER/NAME is cloned into the cache. `marid context
diff LOCK` shows what changed since the lock file was written.
"""

command = ContextCommand(
    "context",
    callback=_run,
    help=_HELP,
    params=[
        click.Argument(["targets"], nargs=-1, type=click.Path(), metavar="[PATH|URL|OWNER/NAME]..."),
        *(_click_option(option) for option in OPTIONS),
    ],
)
