"""Every command, by name. What it names is imported when the command is used."""

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """Where a command is defined, and its line in the overview."""

    target: str
    summary: str


COMMANDS = {
    "say": CommandEntry("marid.faces.cli.commands.say:command", "Say something, whatever its first word is."),
    "resume": CommandEntry("marid.faces.cli.commands.resume:command", "Go on where a round broke off."),
    "conversations": CommandEntry(
        "marid.faces.cli.commands.conversations:command", "List, switch, rename, archive, destroy."
    ),
    "log": CommandEntry("marid.faces.cli.commands.log:command", "Show what was said in a conversation."),
    "inspect": CommandEntry("marid.faces.cli.commands.inspect:command", "Show its prompt, notes or settings."),
    "clear": CommandEntry("marid.faces.cli.commands.clear:command", "Archive its history: begin with an empty window."),
    "set": CommandEntry("marid.faces.cli.commands.set:command", "Set its model, system prompt, or any setting."),
    "search": CommandEntry("marid.faces.cli.commands.search:command", "Find what was said in any conversation."),
    "export": CommandEntry(
        "marid.faces.cli.commands.export:command", "Write a conversation as markdown, JSON or HTML."
    ),
    "inbox": CommandEntry("marid.faces.cli.commands.inbox:command", "Let conversations answer what others sent them."),
    "models": CommandEntry("marid.faces.cli.commands.models:command", "List the models that there are."),
    "model-info": CommandEntry("marid.faces.cli.commands.model_info:command", "Tell what is known of a model."),
    "config": CommandEntry("marid.faces.cli.commands.config:command", "Show the settings, and where each comes from."),
    "context": CommandEntry("marid.faces.cli.commands.context:command", "Put the right files together as one text."),
    "tools": CommandEntry("marid.faces.cli.commands.tools:command", "List the tools, by family and effect."),
    "tool": CommandEntry("marid.faces.cli.commands.tool:command", "Call a tool."),
    "allow": CommandEntry("marid.faces.cli.commands.allow:command", "Let tools touch a path outside of the project."),
    "approvals": CommandEntry("marid.faces.cli.commands.approvals:command", "List and answer what tools ask for."),
    "mcp": CommandEntry("marid.faces.mcp.mcp_command:command", "Serve the tools to any MCP client over stdio."),
    "json": CommandEntry("marid.faces.pipe.json_command:command", "Do what one JSON object on stdin asks for."),
    "overview": CommandEntry(
        "marid.faces.cli.commands.overview:command", "Show what marid makes of a project, and what to try."
    ),
    "completion": CommandEntry("marid.faces.cli.argv.completion:command", "Print the completion script of a shell."),
    "links": CommandEntry(
        "marid.faces.cli.commands.links:command", "Make links by which marid answers to the names it replaces."
    ),
}

# Called by one of these names, the program is that command, or one that has none: only flags and words.
FLAGS_AND_WORDS = ""
LINKS = {"jinni": "context", "chibi": FLAGS_AND_WORDS, "chibi-json": "json"}


def program_name(called: str) -> str:
    """What the program calls itself."""
    return called if called in LINKS else "marid"


def commands_for(called: str) -> dict[str, CommandEntry]:
    """Those that there are by the name that the program was called by."""
    return {} if called in LINKS else COMMANDS


def summaries(called: str = "marid") -> dict[str, str]:
    """What each command does, by name."""
    return {name: command.summary for name, command in commands_for(called).items()}
