"""Commands of click whose help has examples, follows the width of the terminal and breaks between words only."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import click

from marid.faces.cli.argv.help_page import format_rows, page_width

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


class PageFormatter(click.HelpFormatter):
    """The layout of `marid --help` for the help of one command."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, page_width(width or 0), max_width)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.write(_wrap(f"{prefix or 'Usage: '}{prog} {args}", self.width, " " * 7))

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for number, paragraph in enumerate(text.split("\n\n")):
            self.write("\n" if number else "")
            self.write(_wrap(indent + paragraph.strip(), self.width, indent))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        table = list(rows)
        longest = max((len(term) for term, _ in table if len(term) <= col_max), default=col_max)
        self.write(format_rows(table, self.width, longest))


def _wrap(text: str, width: int, indent: str) -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"


class _PageContext(click.Context):
    formatter_class = PageFormatter


class HelpCommand(click.Command):
    """A command with `-h` and, below its text, `examples`: command lines and what each does."""

    context_class = _PageContext

    def __init__(self, name: str | None, *, examples: Sequence[tuple[str, str]] = (), **settings: Any) -> None:
        settings["context_settings"] = {**HELP_NAMES, **(settings.get("context_settings") or {})}
        super().__init__(name, **settings)
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl(self.examples, col_max=45)


class HelpGroup(HelpCommand, click.Group):
    """A group whose list shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(1000)) for name, one in self.commands.items()])
