"""The generated parts of the docs. Cog blocks in README.md and docs/*.md call these; `make docs` writes them anew."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from marid.core.errors import FAMILIES
from marid.core.settings import SETTINGS, Settings
from marid.faces.cli.exits import INTERRUPTED, STATUS
from marid.launch.program import find_command, program
from marid.launch.table import COMMANDS
from marid.text.secret_rules import RULES
from marid.toolkit.form import schema
from marid.toolkit.spec import ToolSpec
from marid.tools.inventory import TOOLS
from marid.workspace.defaults import DEFAULT_RULES


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A markdown table."""
    lines = [list(head), ["---"] * len(list(head)), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def help_text(name: str = "") -> str:
    """The `--help` of a command, or of the program, at a width that does not depend on the terminal."""
    command = find_command(name) if name else program
    if command is None:
        raise SystemExit(f"no command {name}")
    shown = f"marid {name}".strip()
    with click.Context(command, info_name=shown, max_content_width=100, terminal_width=100) as ctx:
        return f"```text\n{command.get_help(ctx)}\n```"


def commands() -> str:
    """Every command with its line."""
    return table(("command", "what it does"), ((f"`marid {name}`", one.summary) for name, one in COMMANDS.items()))


def default_rules() -> str:
    """The built-in exclusions."""
    rows = ((group.why, " ".join(f"`{pattern}`" for pattern in group.patterns)) for group in DEFAULT_RULES)
    return table(("why", "patterns"), rows)


def settings() -> str:
    """Every setting, its default, its variable and what a project may do to it."""
    tighten = {"": "no", "lower": "lower it", "on": "switch it on", "add": "add exclusions", "stricter": "be stricter"}
    rows = (
        (
            f"`{one.name}`",
            f"`{_shown(getattr(Settings(), one.name))}`",
            ", ".join(f"`{name}`" for name in (f"MARID_{one.name.upper()}", *one.aliases)),
            tighten[one.tighten],
            one.meaning,
        )
        for one in SETTINGS
    )
    return table(("setting", "default", "environment", "project may", "meaning"), rows)


def _shown(default: object) -> str:
    return "{}" if isinstance(default, Mapping) else repr(default)


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
    made = schema(spec)
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


def exit_codes() -> str:
    """Every error family and its exit code."""
    meanings = {family.code: (family.__doc__ or "").strip() for family in FAMILIES} | {"internal": "A bug in marid."}
    rows = [("0", "", "Done."), *((str(code), f"`{name}`", meanings[name]) for name, code in STATUS.items())]
    return table(("exit", "family", "meaning"), [*rows, (str(INTERRUPTED), "", "Interrupted by Ctrl-C.")])


def secret_rules() -> str:
    """Every kind of secret that is masked."""
    return table(("mask", "what it is"), ((f"`[masked:{rule.name}]`", rule.description) for rule in RULES))
