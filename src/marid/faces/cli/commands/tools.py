"""`marid tools`: lists the tools."""

import json
import sys
from dataclasses import replace
from typing import Any

import click
from click.shell_completion import CompletionItem

from marid.app.app import RequestScope
from marid.app.tool_session import list_tools
from marid.faces.access_flags import access_from_flags
from marid.faces.cli.argv.completion_values import complete_choice
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.argv.help_page import format_rows, page_width
from marid.faces.cli.argv.shared_options import ACCESS_OPTIONS
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.cli.view.greeting import bold
from marid.toolkit.spec import ToolSpec

_HELP = """List the tools by family, each with its effect and what it does.

The effect is what a tool does to the world: tools that read need no permission, those that write, exec, net or spawn
ask first unless it is allowed. `marid tool NAME --help` has the parameters of one tool. Other names of the same tool,
and tools that need something that is missing here, are listed with --all.
"""


class ToolsCommand(HelpCommand):
    """The command; its access options are those of `marid tool`."""

    def __init__(self) -> None:
        families: dict[str, Any] = {"multiple": True, "metavar": "NAME", "shell_complete": _families}
        own = [
            click.Option(["--all", "every"], is_flag=True, help="Also other names, and tools that do not work here."),
            click.Option(["--json", "as_json"], is_flag=True, help="Name, description, family, effect and schema."),
            click.Option(["--family"], help="Only this family; repeatable.", **families),
        ]
        super().__init__("tools", params=[*own, *ACCESS_OPTIONS], callback=click.pass_context(_list_tools), help=_HELP)


def _families(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    families = dict.fromkeys(spec.family for _, spec in list_tools(ctx.obj(), every=True))
    return complete_choice(tuple(families))(ctx, param, incomplete)


def _list_tools(ctx: click.Context, *, every: bool, as_json: bool, family: tuple[str, ...], **flags: Any) -> None:
    scope: RequestScope = ctx.obj()
    access = replace(access_from_flags(flags), families=family)
    for warning in scope.toolbox.inventory.warnings:
        print_note(warning)
    offered = [(name, spec) for name, spec in list_tools(scope, access, every=every) if every or name == spec.name]
    if as_json:
        print_line(json.dumps([describe_tool(name, spec) for name, spec in offered], indent=2, ensure_ascii=False))
        return
    _print_table(offered, scope if sys.stdout.isatty() else scope._replace(colour=False))


def describe_tool(name: str, spec: ToolSpec) -> dict[str, object]:
    """A tool as a program sees it."""
    from marid.toolkit.params import tool_schema

    described: dict[str, object] = {
        "name": name,
        "description": spec.description,
        "family": spec.family,
        "effect": spec.effect.value,
        "schema": tool_schema(spec, name),
    }
    return described if name == spec.name else {**described, "alias_of": spec.name}


def _print_table(offered: list[tuple[str, ToolSpec]], scope: RequestScope) -> None:
    longest = max((len(name) for name, _ in offered), default=0)
    for number, family in enumerate(dict.fromkeys(spec.family for _, spec in offered)):
        print_line(f"{'' if number == 0 else chr(10)}{bold(family, scope)}")
        rows = [
            (f"{name:<{longest}}  {spec.effect.value:<5}", spec.summary if name == spec.name else f"see {spec.name}")
            for name, spec in offered
            if spec.family == family
        ]
        print_line(format_rows(rows, page_width(0), longest + 7).removesuffix("\n"))


command = ToolsCommand()
