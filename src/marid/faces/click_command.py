"""What the click commands of every face share: the layout of their help, the request's scope, and flags as options."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from marid.core.suggestions import close_matches
from marid.faces.flags import RIGHTS_FLAGS, find_flag
from marid.faces.help_page import format_rows, page_width

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_NO_COMPLETERS: Mapping[str, Completer] = MappingProxyType({})


def click_option(name: str, *spellings: str, completers: Mapping[str, Completer] = _NO_COMPLETERS) -> click.Option:
    """The flag of that name as an option, with further `spellings`; `completers` are by kind of value."""
    flag = find_flag(name)
    more: dict[str, Any] = {"is_flag": True}
    if flag.values:
        (value,) = flag.values
        more = {"metavar": value.metavar, "shell_complete": completers.get(value.kind), "multiple": flag.many}
    return click.Option([*flag.spellings, *spellings, flag.name], help=flag.help, **more)


class PageFormatter(click.HelpFormatter):
    """The layout of `marid --help`: as wide as the terminal, broken between words only."""

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
        context = {"help_option_names": ["-h", "--help"], **settings.pop("context_settings", {})}
        super().__init__(name, context_settings=context, **settings)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise _without_guesses(error, self.params) from None

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl(self.examples, col_max=45)


def _without_guesses(error: click.NoSuchOption, params: Iterable[click.Parameter]) -> click.NoSuchOption:
    """The error with near misses only, and none that grants rights."""
    flags = [flag for param in params if param.name not in RIGHTS_FLAGS for flag in param.opts if flag.startswith("--")]
    return click.NoSuchOption(error.option_name, possibilities=close_matches(error.option_name, flags), ctx=error.ctx)


class ScopedCommand(HelpCommand):
    """A command whose function takes the `scope` of the request, opened after the command line is parsed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            ctx.params["scope"] = ctx.obj()
        return rest


class HelpGroup(HelpCommand, click.Group):
    """A group whose list shows the whole first sentence of each command."""

    command_class = ScopedCommand

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(1000)) for name, one in self.commands.items()])
