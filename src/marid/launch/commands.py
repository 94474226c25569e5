"""Every command, by name. What it names is imported when the command is used."""

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """Where a command is defined, the group it is listed in, and its line in the help."""

    target: str
    group: str
    summary: str


COMMANDS = {
    "say": CommandEntry("marid.faces.cli.commands.say:command", "Ask", "Send a prompt, whatever its first word is."),
    "resume": CommandEntry("marid.faces.cli.commands.resume:command", "Ask", "Continue an interrupted round."),
    "inbox": CommandEntry(
        "marid.faces.cli.commands.inbox:command", "Ask", "Let conversations answer messages from others."
    ),
    "conversations": CommandEntry(
        "marid.faces.cli.commands.conversations:command",
        "Conversations",
        "List, switch, rename, archive and delete conversations.",
    ),
    "log": CommandEntry("marid.faces.cli.commands.log:command", "Conversations", "Show the entries of a conversation."),
    "search": CommandEntry("marid.faces.cli.commands.search:command", "Conversations", "Search all conversations."),
    "export": CommandEntry(
        "marid.faces.cli.commands.export:command", "Conversations", "Write a conversation as markdown, JSON or HTML."
    ),
    "inspect": CommandEntry(
        "marid.faces.cli.commands.inspect:command", "Conversations", "Show its system prompt, notes or settings."
    ),
    "set": CommandEntry(
        "marid.faces.cli.commands.set:command", "Conversations", "Set its model, system prompt or any setting."
    ),
    "clear": CommandEntry(
        "marid.faces.cli.commands.clear:command", "Conversations", "Archive its history: start with an empty window."
    ),
    "context": CommandEntry(
        "marid.faces.cli.commands.context:command", "Context", "Print the right files of a project as one text."
    ),
    "overview": CommandEntry(
        "marid.faces.cli.commands.overview:command", "Context", "Show what marid finds in a project, and what to try."
    ),
    "tools": CommandEntry("marid.faces.cli.commands.tools:command", "Tools", "List the tools by family and effect."),
    "tool": CommandEntry("marid.faces.cli.commands.tool:command", "Tools", "Call a tool."),
    "allow": CommandEntry(
        "marid.faces.cli.commands.allow:command", "Tools", "Let tools use a path outside of the project."
    ),
    "approvals": CommandEntry(
        "marid.faces.cli.commands.approvals:command", "Tools", "List and answer pending approvals."
    ),
    "models": CommandEntry("marid.faces.cli.commands.models:command", "Models", "List the available models."),
    "model-info": CommandEntry(
        "marid.faces.cli.commands.model_info:command", "Models", "Show what is known about a model."
    ),
    "mcp": CommandEntry(
        "marid.faces.mcp.mcp_command:command", "Programs", "Serve the tools to an MCP client over stdio."
    ),
    "json": CommandEntry("marid.faces.pipe.json_command:command", "Programs", "Run one JSON request from stdin."),
    "config": CommandEntry(
        "marid.faces.cli.commands.config:command", "Setup", "Show the settings and where each comes from."
    ),
    "completion": CommandEntry(
        "marid.faces.cli.argv.completion:command", "Setup", "Print a shell's completion script."
    ),
    "links": CommandEntry(
        "marid.faces.cli.commands.links:command",
        "Setup",
        "Link the programs that marid replaces: jinni, chibi, chibi-json.",
    ),
}

# Called by one of these names, the program is that command; `chibi` has flags and a prompt only.
FLAGS_AND_WORDS = ""
LINKS = {"jinni": "context", "chibi": FLAGS_AND_WORDS, "chibi-json": "json"}


def program_name(called: str) -> str:
    """The name that help and messages use."""
    return called if called in LINKS else "marid"


def commands_for(called: str) -> dict[str, CommandEntry]:
    """The commands of the program that was called by that name."""
    return {} if called in LINKS else COMMANDS


def summaries(called: str = "marid") -> dict[str, str]:
    """What each command does, by name."""
    return {name: command.summary for name, command in commands_for(called).items()}


def command_groups(called: str = "marid") -> dict[str, list[str]]:
    """The names of the commands by group, in the order of the table."""
    groups: dict[str, list[str]] = {}
    for name, command in commands_for(called).items():
        groups.setdefault(command.group, []).append(name)
    return groups
