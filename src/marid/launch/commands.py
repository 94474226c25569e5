"""Every command, by name. What it names is imported when the command is used."""

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """The group a command is listed in, its line in the help, and where it is defined.

    `quick` names a function that reads a plain command line without click.
    """

    group: str
    summary: str
    target: str
    quick: str = ""


# Formatted by hand, one command per row: its name, its line in the help, its target, and its quick reader.
# fmt: off
_GROUPS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("Ask", (
        ("say", "Send a prompt, whatever its first word is.", "marid.faces.cli.commands.rounds:say"),
        ("resume", "Continue an interrupted round.", "marid.faces.cli.commands.rounds:resume"),
        ("inbox", "Let conversations answer messages from others.", "marid.faces.cli.commands.rounds:inbox"),
    )),
    ("Conversations", (
        ("conversations", "List, switch, rename, archive and delete conversations.",
         "marid.faces.cli.commands.conversations:command", "marid.faces.cli.operations.conversation_views:quick_list"),
        ("log", "Show the entries of a conversation.",
         "marid.faces.cli.commands.conversation:log", "marid.faces.cli.operations.conversation_views:quick_log"),
        ("search", "Search all conversations.", "marid.faces.cli.commands.conversation:search"),
        ("export", "Write a conversation as markdown, JSON or HTML.", "marid.faces.cli.commands.conversation:export"),
        ("inspect", "Show its system prompt, notes or settings.", "marid.faces.cli.commands.conversation:inspect"),
        ("set", "Set its model, system prompt or any setting.", "marid.faces.cli.commands.conversation:set_"),
        ("clear", "Archive its history: start with an empty window.", "marid.faces.cli.commands.conversation:clear"),
    )),
    ("Context", (
        ("context", "Print the right files of a project as one text.", "marid.faces.cli.commands.context:command"),
        ("overview", "Show what marid finds in a project, and what to try.",
         "marid.faces.cli.commands.context:overview"),
    )),
    ("Tools", (
        ("tools", "List the tools by family and effect.", "marid.faces.cli.commands.tools:tools"),
        ("tool", "Call a tool.", "marid.faces.cli.commands.tools:tool",
         "marid.faces.cli.operations.tool_call:quick_tool"),
        ("allow", "Let tools use a path outside of the project.", "marid.faces.cli.commands.approvals:allow"),
        ("approvals", "List and answer pending approvals.", "marid.faces.cli.commands.approvals:approvals"),
        ("quarantine", "List and restore what commands created under protected names.",
         "marid.faces.cli.commands.quarantine:command"),
    )),
    ("Models", (
        ("models", "List the available models.", "marid.faces.cli.commands.models:models"),
        ("model-info", "Show what is known about a model.", "marid.faces.cli.commands.models:model_info"),
    )),
    ("Programs", (
        ("mcp", "Serve the tools to an MCP client over stdio.", "marid.faces.mcp.mcp_command:command"),
        ("json", "Run one JSON request from stdin.", "marid.faces.pipe.json_command:command"),
    )),
    ("Setup", (
        ("config", "Show the settings and where each comes from.", "marid.faces.cli.commands.setup:config"),
        ("completion", "Print a shell's completion script.", "marid.faces.cli.argv.completion:command"),
        ("links", "Link the programs that marid replaces: jinni, chibi, chibi-json.",
         "marid.faces.cli.commands.setup:links"),
    )),
)
# fmt: on
COMMANDS = {name: CommandEntry(group, *entry) for group, rows in _GROUPS for name, *entry in rows}

# Called by one of these names, the program is that command; `chibi` has flags and a prompt only.
LINKS = {"jinni": "context", "chibi": "", "chibi-json": "json"}


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
