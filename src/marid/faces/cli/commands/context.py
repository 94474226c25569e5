"""`marid context` for click, made from the option table: help, errors and completion."""

from typing import Any

import click

from marid.faces.cli.argv.option_tables import GROUPS, OPTIONS, join_optional_values
from marid.faces.cli.argv.params import plain_option
from marid.faces.cli.operations.pack_context import run_context
from marid.faces.click_command import HelpCommand

_HELP = """Print the files of a project as one text.

PATH is a file or folder (default: the current folder). A git URL or OWNER/NAME is cloned into the cache. `marid context
diff LOCK` shows what changed since the lock file was written.
"""


class ContextCommand(HelpCommand):
    """Shows its options by group."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, join_optional_values(args))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        shown = {param.name: record for param in options if (record := param.get_help_record(ctx))}
        for title, group in GROUPS:
            with formatter.section(title):
                formatter.write_dl([shown.pop(option.name) for option in group])
        with formatter.section("Other"):
            formatter.write_dl([*shown.values()])


@click.pass_context
def _run(ctx: click.Context, **options: Any) -> int:
    if ctx.info_name == "jinni" and not (options["targets"] or options["files_from"]):
        raise click.UsageError("Missing argument '<path>'.", ctx)
    return run_context(options, ctx.obj)


_TARGETS = click.Argument(["targets"], nargs=-1, type=click.Path(), metavar="[PATH|URL|OWNER/NAME]...")
command = ContextCommand("context", callback=_run, help=_HELP, params=[_TARGETS, *map(plain_option, OPTIONS)])
