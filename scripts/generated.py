"""The generated parts of the docs. Cog blocks in README.md and docs/*.md call these; `make docs` writes them anew."""

from collections.abc import Iterable

import click

from marid.core.errors import FAMILIES
from marid.core.settings import SETTINGS, Settings
from marid.faces.cli.exits import INTERRUPTED, STATUS
from marid.launch.program import find_command, program
from marid.launch.table import COMMANDS
from marid.text.secret_rules import RULES
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
    tighten = {"": "no", "lower": "lower it", "on": "switch it on", "add": "add exclusions"}
    rows = (
        (
            f"`{one.name}`",
            f"`{getattr(Settings(), one.name)!r}`",
            ", ".join(f"`{name}`" for name in (f"MARID_{one.name.upper()}", *one.aliases)),
            tighten[one.tighten],
            one.meaning,
        )
        for one in SETTINGS
    )
    return table(("setting", "default", "environment", "project may", "meaning"), rows)


def exit_codes() -> str:
    """Every error family and its exit code."""
    meanings = {family.code: (family.__doc__ or "").strip() for family in FAMILIES} | {"internal": "A bug in marid."}
    rows = [("0", "", "Done."), *((str(code), f"`{name}`", meanings[name]) for name, code in STATUS.items())]
    return table(("exit", "family", "meaning"), [*rows, (str(INTERRUPTED), "", "Interrupted by Ctrl-C.")])


def secret_rules() -> str:
    """Every kind of secret that is masked."""
    return table(("mask", "what it is"), ((f"`[masked:{rule.name}]`", rule.description) for rule in RULES))
