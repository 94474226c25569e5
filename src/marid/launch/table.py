"""Every command, by name. What it names is imported when the command is used."""

from typing import NamedTuple


class Command(NamedTuple):
    """Where a command is defined, and its line in the overview."""

    place: str
    summary: str


COMMANDS = {
    "context": Command("marid.faces.cli.context_command:command", "Put the right files together as one text."),
    "tools": Command("marid.faces.cli.tools_command:command", "List the tools, by family and effect."),
    "tool": Command("marid.faces.cli.tool_command:command", "Call a tool."),
    "allow": Command("marid.faces.cli.allow_command:command", "Let tools touch a path outside of the project."),
    "approvals": Command("marid.faces.cli.approvals_command:command", "List and answer what tools ask for."),
    "mcp": Command("marid.faces.mcp.command:command", "Serve the tools to any MCP client over stdio."),
    "overview": Command("marid.faces.cli.overview:command", "Show what marid makes of a project, and what to try."),
    "completion": Command("marid.faces.cli.completion:command", "Print the completion script of a shell."),
    "links": Command("marid.faces.cli.links:command", "Make links by which marid answers to the names it replaces."),
}

# Called by one of these names, the program is that command.
LINKS = {"jinni": "context"}
