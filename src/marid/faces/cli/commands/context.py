"""`marid context` for click, made from the option table, and `marid overview`: a project at a glance."""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from marid.app import project_context
from marid.app.app import RequestScope
from marid.core.context import ContextRequest, ContextView, FileSelection, OutputFormat, RenderOptions
from marid.faces.cli.argv.option_tables import GROUPS, OPTIONS, join_optional_values
from marid.faces.cli.argv.params import plain_option
from marid.faces.cli.operations.pack_context import run_context
from marid.faces.cli.view.console import print_line
from marid.faces.cli.view.greeting import bold, show_try_next
from marid.faces.cli.view.progress import Progress
from marid.faces.click_command import HelpCommand, ScopedCommand
from marid.text.display import human_size

_MAX_FOLDERS = 24
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


@click.command(cls=ScopedCommand)
@click.argument("path", default=".", type=click.Path())
def overview(scope: RequestScope, path: str) -> None:
    """Show the folders, token counts and largest files of a project, and what to try next."""
    scope = scope if sys.stdout.isatty() else scope._replace(colour=False)
    found = _statistics(scope, path)
    name = os.path.basename(os.path.realpath(os.path.join(scope.cwd, path)))
    print_line(f"{bold(f'{name}/', scope)}  {_totals_text(found)} ({found['encoding']})\n")
    for line in _tree(found["folders"], "" if found["exact"] else "≈"):
        print_line(line)
    print_line(bold("Largest files", scope))
    for one in found["largest"]:
        print_line(f"  {one['tokens']:>9,} tokens  {one['path']}")
    print_line(f"\nThe whole tree: marid context --tree --tokens {path}; all counts: marid context --stats {path}\n")
    show_try_next(scope)


def _statistics(scope: RequestScope, path: str) -> dict[str, Any]:
    request = ContextRequest(
        cwd=scope.cwd,
        selection=FileSelection(targets=(path,)),
        render=RenderOptions(views=(ContextView.STATS,), form=OutputFormat.JSON),
        encoding=scope.settings.context.encoding,
    )
    progress = Progress(quiet=False)
    run = project_context.assemble(scope, request, progress)
    text = b"".join(piece for batch in run for piece in batch)
    progress.clear()
    return json.loads(text)


def _totals_text(found: dict[str, Any]) -> str:
    mark = "" if found["exact"] else "≈"
    return f"{found['files']:,} files, {human_size(found['bytes'])}, {mark}{found['tokens']:,} tokens"


def _tree(folders: list[dict[str, Any]], mark: str) -> Iterator[str]:
    """The folders, as deep as they fit on a screen, each with the totals below it."""
    depths = [one["path"].count("/") for one in folders]
    deepest = next((d for d in range(max(depths, default=0), 0, -1) if sum(x <= d for x in depths) <= _MAX_FOLDERS), 0)
    shown = [one for one, depth in zip(folders, depths, strict=True) if depth <= deepest]
    rows = [(f"{'  ' * one['path'].count('/')}{os.path.basename(one['path'])}/", one) for one in shown[:_MAX_FOLDERS]]
    width = max((len(label) for label, _ in rows), default=0)
    for label, one in rows:
        yield f"  {label:<{width}}  {one['files']:>7,} files  {mark}{one['tokens']:>11,} tokens"
    if len(shown) > _MAX_FOLDERS:
        yield f"  and {len(shown) - _MAX_FOLDERS:,} more folders"
    if rows:
        yield ""
