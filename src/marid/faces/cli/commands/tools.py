"""`marid tools`: what there is to call."""

import json
import sys
from dataclasses import replace
from typing import Any

import click
from click.shell_completion import CompletionItem

from marid.app.app import RequestScope
from marid.faces.access_flags import access_from_flags
from marid.faces.cli.argv.completion_values import complete_choice
from marid.faces.cli.argv.shared_options import ACCESS_OPTIONS
from marid.faces.cli.view.console import print_line
from marid.faces.cli.view.greeting import bold
from marid.toolkit.spec import ToolSpec

_HELP = """List the tools by family, each with its effect and what it does.

An effect is what a tool does to the world: read and meta need no question, write, exec, net and spawn are asked for
unless they are granted. `marid tool NAME --help` tells all about one.
"""


class ToolsCommand(click.Command):
    """The command; its reach options are those of `marid tool`."""

    def __init__(self) -> None:
        own = [
            click.Option(["--json", "as_json"], is_flag=True, help="Name, description, family, effect and schema."),
            click.Option(
                ["--family"],
                multiple=True,
                metavar="NAME",
                help="Only this family; repeatable.",
                shell_complete=_families,
            ),
        ]
        super().__init__(
            "tools",
            params=[*own, *ACCESS_OPTIONS],
            callback=click.pass_context(_list_tools),
            help=_HELP,
            context_settings={"help_option_names": ["-h", "--help"]},
        )


def _families(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    scope: RequestScope = ctx.obj()
    return complete_choice(scope.app.toolbox().standalone.families)(ctx, param, incomplete)


def _list_tools(ctx: click.Context, *, as_json: bool, family: tuple[str, ...], **flags: Any) -> None:
    from marid.app.tool_session import open_tools  # imported when used: the help needs none of it

    scope: RequestScope = ctx.obj()
    hands = open_tools(scope, replace(access_from_flags(flags), families=family))
    try:
        offered = hands.tools_by_name()
    finally:
        hands.close()
    if as_json:
        print_line(json.dumps([describe_tool(name, spec) for name, spec in offered], indent=2, ensure_ascii=False))
        return
    _table(offered, scope if sys.stdout.isatty() else scope._replace(colour=False))


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


def _table(offered: list[tuple[str, ToolSpec]], scope: RequestScope) -> None:
    width = max((len(name) for name, _ in offered), default=0)
    for number, family in enumerate(dict.fromkeys(spec.family for _, spec in offered)):
        print_line(f"{'' if number == 0 else chr(10)}{bold(family, scope)}")
        for name, spec in offered:
            if spec.family == family:
                words = spec.summary if name == spec.name else f"the same as {spec.name}"
                print_line(f"  {name:<{width}}  {spec.effect.value:<5}  {words}")


command = ToolsCommand()
