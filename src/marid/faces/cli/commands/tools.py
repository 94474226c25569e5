"""`marid tools` and `marid tool NAME`: list the tools, and call one as a command made from its definition."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import click
from click.exceptions import Exit

from marid.app.app import RequestScope
from marid.app.tool_session import access_from_flags, list_tools
from marid.core.errors import BadInput, MaridError, NotFound
from marid.faces.cli.argv.params import ACCESS_OPTIONS, complete_from, complete_parameter, json_option
from marid.faces.cli.operations.tool_call import call_arguments, call_tool, print_call, print_outcome
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.cli.view.greeting import bold
from marid.faces.click_command import HelpCommand, HelpGroup, ScopedCommand
from marid.faces.flags import ACCESS_FLAGS
from marid.faces.help_page import format_rows, page_width
from marid.toolkit.outcome import ToolFailure
from marid.toolkit.spec import ToolSpec


def _schema(spec: ToolSpec, name: str) -> dict[str, Any]:
    from marid.toolkit.params import tool_schema  # imported when used: it brings pydantic

    return tool_schema(spec, name)


_FAMILIES = complete_from(lambda ctx: dict.fromkeys(spec.family for _, spec in list_tools(ctx.obj(), every=True)))
_TOOLS_PARAMS: list[click.Parameter] = [
    click.Option(["--all", "every"], is_flag=True, help="Also other names, and tools that do not work here."),
    json_option("Name, description, family, effect and schema."),
    click.Option(
        ["--family"], multiple=True, metavar="NAME", help="Only this family; repeatable.", shell_complete=_FAMILIES
    ),
    *ACCESS_OPTIONS,
]


@click.command(cls=ScopedCommand, params=_TOOLS_PARAMS)
def tools(scope: RequestScope, family: tuple[str, ...], *, every: bool, as_json: bool, **flags: Any) -> None:
    """List the tools by family, each with its effect and what it does.

    The effect is what a tool does to the world: tools that read need no permission, those that write, exec, net or
    spawn ask first unless it is allowed. `marid tool NAME --help` has the parameters of one tool. Other names of the
    same tool, and tools that need something that is missing here, are listed with --all.
    """
    access = replace(access_from_flags(flags), families=family)
    for warning in scope.toolbox.inventory.warnings:
        print_note(warning)
    offered = [(name, spec) for name, spec in list_tools(scope, access, every=every) if every or name == spec.name]
    if as_json:
        print_line(json.dumps([describe_tool(name, spec) for name, spec in offered], indent=2, ensure_ascii=False))
    else:
        _print_table(offered, scope if sys.stdout.isatty() else scope._replace(colour=False))


def describe_tool(name: str, spec: ToolSpec) -> dict[str, object]:
    """A tool as a program sees it."""
    described = {"name": name, "description": spec.description, "family": spec.family, "effect": spec.effect.value}
    alias = {} if name == spec.name else {"alias_of": spec.name}
    return {**described, "schema": _schema(spec, name), **alias}


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


_TOOL_HELP = """Call a tool. Its parameters are flags of the same name.

The text of the result goes to stdout. Tools that write files or run commands show what they will do and ask first,
unless --allow or the policy in config.toml permits it; without a terminal they are refused. `marid tools` lists them.
"""
_ARGS_HELP = "All arguments at once, as a JSON object; - reads it from stdin."
_JSON_OPTION = json_option('{"ok": true, "result": ...} or {"ok": false, ...}.', "marid_json")


class ToolGroup(HelpGroup):
    """A group whose commands are the tools of the inventory."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, _ in list_tools(ctx.obj())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        scope: RequestScope = ctx.obj()
        try:
            return tool_command(cmd_name, scope.toolbox.inventory.find(cmd_name))
        except NotFound as error:
            raise NotFound(f"{error} (`marid tools --all` lists them)") from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # Not click's message for an unknown name: the inventory knows the closest ones.
        try:
            return args[0], self.get_command(ctx, args[0]), args[1:]
        except MaridError as error:
            if "--json" not in args and not ctx.params.get("marid_json"):
                raise
            raise Exit(print_outcome(ToolFailure(code=error.code, message=str(error)), as_json=True)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        offered = [spec for name, spec in list_tools(ctx.obj()) if name == spec.name]
        for family in dict.fromkeys(spec.family for spec in offered):
            with formatter.section(family):
                formatter.write_dl([(spec.name, spec.summary) for spec in offered if spec.family == family])


class ToolCommand(HelpCommand):
    """One tool. With --json an invalid command line is an outcome like any other failure."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        as_json = "--json" in args  # before click takes the words away
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if not as_json:
                raise
            code = print_outcome(ToolFailure(code=BadInput.code, message=error.format_message()), as_json=True)
            raise Exit(code) from error


def tool_command(name: str, spec: ToolSpec) -> click.Command:
    """A tool as a command."""
    schema = _schema(spec, name)
    options = [
        _parameter_option(parameter, about, required=parameter in schema.get("required", ()))
        for parameter, about in schema["properties"].items()
    ]
    taken = {str(option.name) for option in options}
    own = [
        click.Option(["--args", "marid_args"], metavar="JSON", help=_ARGS_HELP),
        _JSON_OPTION,
        *(option for option in ACCESS_OPTIONS if option.name not in taken),
    ]
    text = f"{spec.description}\n\nEffect: {spec.effect.value}."
    run = partial(_run_tool, name, schema)
    return ToolCommand(name, params=[*options, *own], callback=run, help=text, short_help=spec.summary)


def _parameter_option(parameter: str, about: Mapping[str, Any], *, required: bool) -> click.Option:
    spellings = [*dict.fromkeys((f"--{parameter}", f"--{parameter.replace('_', '-')}")), parameter]
    text = str(about.get("description", ""))
    offered = complete_parameter(about)
    if about.get("type") == "boolean":
        values: dict[str, Any] = {"is_flag": False, "flag_value": "true", "metavar": "[true|false]"}
        return click.Option(spellings, help=text, shell_complete=offered, **values)
    default = about.get("default")
    note = "required" if required else "" if default in (None, "", []) else f"default: {default}"
    text = f"{text}  [{note}]" if note else text
    several = about.get("type") == "array"
    return click.Option(spellings, help=text, shell_complete=offered, multiple=several, metavar=_metavar(about))


def _metavar(about: Mapping[str, Any]) -> str:
    if "enum" in about:
        return "|".join(map(str, about["enum"]))
    if str(about.get("format", "")).startswith("project-path"):
        return "PATH"
    kinds = {about.get("type"), *(one.get("type") for one in about.get("anyOf", ()))} - {"null", None}
    return {"integer": "NUMBER", "number": "NUMBER", "object": "JSON"}.get("".join(map(str, kinds)), "TEXT")


def _run_tool(name: str, schema: Mapping[str, Any], /, **given: Any) -> int:  # a tool may have a parameter `name`
    ctx = click.get_current_context()
    before = ctx.parent.params if ctx.parent else {}
    flags = {flag: given.pop(flag) for flag in ACCESS_FLAGS if flag in given and flag not in schema["properties"]}
    as_json: bool = given.pop("marid_json") or before.get("marid_json", False)
    packed: str | None = given.pop("marid_args")
    scope: RequestScope = ctx.obj()
    return print_call(
        lambda: call_tool(scope, access_from_flags(before, flags), name, call_arguments(schema, given, packed)),
        as_json=as_json,
    )


_TOOL_PARAMS = [*ACCESS_OPTIONS, _JSON_OPTION]
tool = ToolGroup("tool", params=[*_TOOL_PARAMS], help=_TOOL_HELP, subcommand_metavar="NAME [ARGUMENTS]")
