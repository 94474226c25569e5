"""Every command, by name. What it names is imported when the command is used."""

from typing import NamedTuple


class Command(NamedTuple):
    """Where a command is defined, and its line in the overview."""

    place: str
    summary: str


COMMANDS = {
    "context": Command("marid.faces.cli.context_command:command", "Put the right files together as one text."),
    "mcp": Command("marid.faces.mcp.command:command", "Serve read_context to any MCP client over stdio."),
    "overview": Command("marid.faces.cli.overview:command", "Show what marid makes of a project, and what to try."),
    "completion": Command("marid.faces.cli.completion:command", "Print the completion script of a shell."),
    "links": Command("marid.faces.cli.links:command", "Make links by which marid answers to the names it replaces."),
}

# Called by one of these names, the program is that command.
LINKS = {"jinni": "context"}
