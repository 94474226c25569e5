"""The generated parts of the docs. Cog blocks in README.md and docs/*.md call these; `make docs` updates them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from marid.bootstrap.settings.layer import variable_name
from marid.core.errors import EXIT_STATUS, FAMILIES, INTERRUPTED_STATUS
from marid.core.event_table import json_line_table
from marid.core.settings.colours import COLOUR_HELP
from marid.core.settings.schema import SETTINGS, Setting
from marid.core.settings.values import ResolvedSettings, Settings
from marid.core.settings.view import effective_settings
from marid.faces.help_page import full_help_page
from marid.faces.pipe.input_schema import COMMAND_FIELDS as JSON_FIELDS
from marid.faces.pipe.json_command import ASYNC_COMMANDS, SYNC_COMMANDS
from marid.launch.commands import COMMANDS, summaries
from marid.launch.program import find_command
from marid.text.secrets.secret_rules import RULES
from marid.toolkit.params import tool_schema
from marid.toolkit.spec import ToolSpec
from marid.tools.builtin import TOOLS
from marid.workspace.rules.defaults import DEFAULT_RULES


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A markdown table."""
    lines = [list(head), ["---"] * len(list(head)), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def help_text(name: str = "") -> str:
    """The help of a command, or all help of the program, at a width that does not depend on the terminal."""
    if not name:
        return f"```text\n{full_help_page(summaries(), width=100)}\n```"
    command = find_command(name)
    if command is None:
        raise SystemExit(f"no command {name}")
    shown = f"marid {name}".strip()
    with command.make_context(shown, [], resilient_parsing=True, terminal_width=100) as ctx:
        return f"```text\n{command.get_help(ctx)}\n```"


def commands() -> str:
    """Every command with its line."""
    return table(("command", "what it does"), ((f"`marid {name}`", one.summary) for name, one in COMMANDS.items()))


def default_rules() -> str:
    """The built-in exclusions."""
    rows = ((group.reason, " ".join(f"`{pattern}`" for pattern in group.patterns)) for group in DEFAULT_RULES)
    return table(("why", "patterns"), rows)


def settings() -> str:
    """Every setting, those of tables after their table: its default, its variable, where it may stand, its meaning."""
    shown = {one.key: one.text for one in effective_settings(ResolvedSettings(Settings(), {}))}
    return table(_HEAD, (_setting(one, shown, "config.toml", "local.toml") for one in SETTINGS if not one.display))


def display() -> str:
    """The same for cli.toml, and what a colour is."""
    shown = {one.key: one.text for one in effective_settings(ResolvedSettings(Settings(), {}))}
    rows = table(_HEAD, (_setting(one, shown, "cli.toml", "") for one in SETTINGS if one.display))
    return f"{rows}\n\nA colour is {COLOUR_HELP}."


_HEAD = ("setting", "default", "variable", "may stand in", "meaning")
_TIGHTEN = {
    "lower": "lower it",
    "on": "switch it on",
    "add": "add exclusions",
    "exclude": "exclude more",
    "stricter": "be stricter",
}


def _setting(one: Setting, shown: Mapping[str, str], file: str, own: str) -> tuple[str, ...]:
    """A row; a table itself has neither a default nor a variable."""
    of_a_model = one.name.partition(".")[0] == "api"
    places = [file, *(["models.toml"] if of_a_model else []), *([own, "flags"] if one.per_conversation else [])]
    project = f"; a project may {_TIGHTEN[one.tighten]}" if one.tighten else ""
    is_table = one.kind == "table"
    variables = (
        "" if is_table else ", ".join(f"`{name}`" for name in (variable_name(one).replace("*", "ID"), *one.aliases))
    )
    default = "" if is_table else f"`{shown.get(one.name, '(unset)')}`"
    name = one.name.replace("*", "ID")
    also = f" (also `{'`, `'.join(one.keys)}`)" if one.keys else ""
    return (f"`{name}`{also}", default, variables, ", ".join(filter(None, places)) + project, one.meaning)


def tool_table() -> str:
    """Every tool by family, with its effect."""
    rows = (
        (
            spec.family,
            f"[`{name}`](#{name})" if name == spec.name else f"`{name}`",
            spec.effect.value,
            _line(name, spec),
        )
        for spec in TOOLS
        for name in spec.names
    )
    return table(("family", "tool", "effect", "what it does"), rows)


def _line(name: str, spec: ToolSpec) -> str:
    return spec.summary if name == spec.name else f"the same as `{spec.name}`"


def tool_pages() -> str:
    """Every tool in full: what a caller reads, and its parameters."""
    return "\n\n".join(_tool_page(spec) for spec in TOOLS)


def _tool_page(spec: ToolSpec) -> str:
    made = tool_schema(spec)
    required = set(made.get("required", ()))
    rows = [
        (f"`{name}`", _kind(about), _needed(about, required=name in required), str(about.get("description", "")))
        for name, about in made["properties"].items()
    ]
    aliases = [
        f"Also `{alias.name}`"
        + (f" ({', '.join(f'`{a}` for `{b}`' for a, b in alias.renames)})" if alias.renames else "")
        + "."
        for alias in spec.aliases
    ]
    parts = [f"### {spec.name}", f"*{spec.family}, {spec.effect.value}*", _plain(spec.description), *aliases]
    return "\n\n".join([*parts, *([table(("parameter", "kind", "default", "meaning"), rows)] if rows else [])])


def _plain(description: str) -> str:
    """Words for a model as words on a page: what looks like a link there is none here."""
    return description.replace("](", "]\\(")


def _kind(about: Mapping[str, Any]) -> str:
    if str(about.get("format", "")).startswith("project-path"):
        return "path"
    if "enum" in about:
        return ", ".join(f"`{one}`" for one in about["enum"])
    kinds = [str(one.get("type", "any")) for one in about.get("anyOf", [about])]
    return " or ".join(kind for kind in kinds if kind != "null")


def _needed(about: Mapping[str, Any], *, required: bool) -> str:
    if required:
        return "required"
    return "" if about.get("default") in (None, "") else f"`{about['default']}`"


def json_commands() -> str:
    """Every command of JSON mode: its fields, and what it does."""
    return table(
        ("command", "fields", "what comes of it"),
        map(_json_command, sorted({**SYNC_COMMANDS, **ASYNC_COMMANDS}.items())),
    )


def _json_command(command: tuple[str, Callable[..., object]]) -> tuple[str, str, str]:
    name, work = command
    shape: Mapping[str, Any] = JSON_FIELDS.get(name, {})
    fields = (f"`{one}`{'' if one in shape['required'] else '?'}" for one in shape.get("properties", {}))
    told = (work.__doc__ or "").partition("Raises:")[0]
    return f"`{name}`", ", ".join(fields), " ".join(told.split())


def json_events() -> str:
    """Every event of JSON mode."""
    rows = (
        (f"`{name}`", ", ".join(f"`{one}`" for one in fields), meaning) for name, fields, meaning in json_line_table()
    )
    return table(("event", "fields", "what it tells"), rows)


def exit_codes() -> str:
    """Every error family and its exit code."""
    meanings = {family.code: (family.__doc__ or "").strip() for family in FAMILIES} | {"internal": "A bug in marid."}
    rows = [("0", "", "Done."), *((str(code), f"`{name}`", meanings[name]) for name, code in EXIT_STATUS.items())]
    return table(("exit", "family", "meaning"), [*rows, (str(INTERRUPTED_STATUS), "", "Interrupted by Ctrl-C.")])


def secret_rules() -> str:
    """Every kind of secret that is masked."""
    return table(("mask", "what it is"), ((f"`[masked:{rule.name}]`", rule.description) for rule in RULES))
