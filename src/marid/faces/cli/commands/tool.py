"""`marid tool NAME`: any tool as a command, made from the same definition as everywhere else."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import click
from click.exceptions import Exit

from marid.app.app import RequestScope
from marid.app.tool_session import list_tools
from marid.core.errors import BadInput, MaridError, NotFound
from marid.faces.access_flags import ACCESS_FLAGS, access_from_flags
from marid.faces.cli.argv.completion_values import complete_parameter
from marid.faces.cli.argv.help_command import HelpCommand, HelpGroup
from marid.faces.cli.argv.shared_options import ACCESS_OPTIONS
from marid.faces.cli.operations.tool_call import call_arguments, call_tool, print_call, print_outcome
from marid.toolkit.outcome import ToolFailure
from marid.toolkit.spec import ToolSpec

_HELP = """Call a tool. Its parameters are flags of the same name.

The text of the result goes to stdout. Tools that write files or run commands show what they will do and ask first,
unless --allow or the policy in config.toml permits it; without a terminal they are refused. `marid tools` lists them.
"""
_ARGS = "All arguments at once, as a JSON object; - reads it from stdin."


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
        # Not click's own words for a name that is not there: the inventory knows the nearest ones.
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
    """One tool. With --json a command line that is wrong is an outcome like any other failure."""

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
    from marid.toolkit.params import tool_schema  # imported when used: it brings pydantic

    made = tool_schema(spec, name)
    required = set(made.get("required", ()))
    options = [
        _parameter_option(parameter, about, parameter in required) for parameter, about in made["properties"].items()
    ]
    taken = {str(option.name) for option in options}
    own = [
        click.Option(["--args", "marid_args"], metavar="JSON", help=_ARGS),
        _json_option(),
        *(option for option in ACCESS_OPTIONS if option.name not in taken),
    ]

    return ToolCommand(
        name,
        params=[*options, *own],
        callback=partial(_run_tool, name, made),
        help=f"{spec.description}\n\nEffect: {spec.effect.value}.",
        short_help=spec.summary,
    )


def _json_option() -> click.Option:
    words = '{"ok": true, "result": ...} or {"ok": false, ...}.'
    return click.Option(["--json", "marid_json"], is_flag=True, help=words)


def _parameter_option(parameter: str, about: Mapping[str, Any], required: bool) -> click.Option:  # noqa: FBT001 - a word of the schema
    spellings = list(dict.fromkeys((f"--{parameter}", f"--{parameter.replace('_', '-')}")))
    words = str(about.get("description", ""))
    if about.get("type") == "boolean":
        return click.Option(
            [*spellings, parameter],
            is_flag=False,
            flag_value="true",
            metavar="[true|false]",
            help=words,
            shell_complete=complete_parameter(about),
        )
    note = "required" if required else _default_note(about)
    return click.Option(
        [*spellings, parameter],
        multiple=about.get("type") == "array",
        metavar=_metavar(about),
        help=f"{words}  [{note}]" if note else words,
        shell_complete=complete_parameter(about),
    )


def _default_note(about: Mapping[str, Any]) -> str:
    default = about.get("default")
    return "" if default in (None, "", []) else f"default: {default}"


def _metavar(about: Mapping[str, Any]) -> str:
    if "enum" in about:
        return "|".join(map(str, about["enum"]))
    if str(about.get("format", "")).startswith("project-path"):
        return "PATH"
    kinds = {about.get("type"), *(one.get("type") for one in about.get("anyOf", ()))} - {"null", None}
    return {"integer": "NUMBER", "number": "NUMBER", "object": "JSON"}.get("".join(map(str, kinds)), "TEXT")


def _run_tool(name: str, made: Mapping[str, Any], **given: Any) -> int:
    ctx = click.get_current_context()
    before = ctx.parent.params if ctx.parent else {}
    flags = {flag: given.pop(flag) for flag in ACCESS_FLAGS if flag in given and flag not in made["properties"]}
    as_json: bool = given.pop("marid_json") or before.get("marid_json", False)
    packed: str | None = given.pop("marid_args")
    scope: RequestScope = ctx.obj()
    return print_call(
        lambda: call_tool(scope, access_from_flags(before, flags), name, call_arguments(made, given, packed)),
        as_json=as_json,
    )


command = ToolGroup(
    "tool",
    params=[*ACCESS_OPTIONS, _json_option()],
    help=_HELP,
    subcommand_metavar="NAME [ARGUMENTS]",
)
