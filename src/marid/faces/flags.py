"""The table of all flags, from which parsing, help, completion, docs and options of commands are made.

A capital letter takes the name of a conversation; the small letter acts on the current one.
"""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

DEBUG_LOGS = ("request-log", "response-meta")


def parse_log_names(words: Iterable[str]) -> frozenset[str]:
    """The logs that these words name, with dashes or underscores; `all` names every log."""
    meant = {word.strip().replace("_", "-") for word in words}
    return frozenset(DEBUG_LOGS if "all" in meant else meant.intersection(DEBUG_LOGS))


# Kinds of values, by which they are checked and completed. PREVIOUS: a conversation or `-`; ANY: also a new one.
NAME, PREVIOUS, ANY = "name", "previous", "any"
TEXT, NUMBER, SECONDS, THING, SETTING, KEYS = "text", "number", "seconds", "thing", "setting", "keys"
FILE, FOLDER, PATH, TOOL, TOOLS, MODEL, EFFECTS = "file", "folder", "path", "tool", "tools", "model", "effects"

FORCE_MARKDOWN = "force-markdown"
DEBUG_KEYS = (*DEBUG_LOGS, "all", FORCE_MARKDOWN)


class Value(NamedTuple):
    """One value that a flag takes."""

    metavar: str
    kind: str = TEXT


class Flag(NamedTuple):
    """One flag. It `operates` if it is an action, and is `alone` if no prompt is sent after it.

    `where` flags only say where files are; `before` flags also apply to a command that follows; `for_json` flags work
    with `--json`, `destroys` flags with `--yes`; `everyday` flags are on the short help page.
    """

    name: str
    short: str
    long: str
    help: str
    values: tuple[Value, ...] = ()
    operates: bool = False
    alone: bool = False
    many: bool = False
    where: bool = False
    before: bool = False
    for_json: bool = False
    destroys: bool = False
    everyday: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        """The short and the long form, if it has them."""
        return tuple(one for one in (self.short, self.long) if one)

    @property
    def usage(self) -> str:
        """The spellings and values, for help."""
        values = " ".join(value.metavar for value in self.values)
        return f"{', '.join(self.spellings)} {values}".strip()


def _flag(flags: str, name: str, meaning: str, *values: Value, **marks: bool) -> Flag:
    words = flags.split()
    short = words[0] if len(words[0]) == 2 else ""
    long = words[-1] if words[-1].startswith("--") else ""
    return Flag(name, short, long, meaning, values, **marks)


_action = partial(_flag, operates=True)  # a prompt may follow
_leading_action = partial(_action, before=True)  # a prompt or a command may follow
_final_action = partial(_action, alone=True)
_view_action = partial(_final_action, for_json=True)  # prints something, as JSON with `--json`

_CONVERSATION = Value("NAME", PREVIOUS)
_ANY = Value("NAME", ANY)
_NEW_NAME = Value("NEW", NAME)
_COUNT = Value("N", NUMBER)
_THING = Value("THING", THING)
_MODEL = Value("MODEL", MODEL)
_PROMPT = Value("TEXT|FILE", PATH)

# Formatted by hand, one flag per row. The letters are those of chibi.
# fmt: off
GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    ("Choose a conversation", (
        _flag("-c --switch-context", "switch", "Switch to conversation NAME (- previous, new, new:PREFIX).", _ANY,
              before=True, everyday=True),
        _flag("-C --ephemeral-context", "conversation", "Use conversation NAME for this run only.", _ANY,
              everyday=True),
    )),
    ("Choose a model and its settings", (
        _flag("--model", "model", "Use this model for this run (provider:model names both).", _MODEL, before=True,
              everyday=True),
        _flag("-s --set", "sets", "Set a setting for this run; repeatable.", Value("KEY=VALUE", SETTING), many=True,
              before=True, everyday=True),
        _flag("-U --ephemeral-username", "username", "Your name in the conversation, for this run.", Value("NAME"),
              before=True),
        _flag("--include", "include", "Offer the model only these tools; repeatable.", Value("TOOLS", TOOLS), many=True,
              before=True),
        _flag("--exclude", "exclude", "Do not offer the model these tools; repeatable.", Value("TOOLS", TOOLS),
              many=True, before=True),
        _flag("--no-tool-calls", "no_tool_calls", "Offer the model no tools.", before=True),
        _flag("--wait-lock", "wait_lock", "Wait up to SECONDS if the conversation is in use.", Value("SECONDS")),
    )),
    ("What tools may do", (
        _flag("--allow", "allow", "Allow these effects without asking: write, exec, net, spawn.",
              Value("EFFECTS", EFFECTS), many=True, everyday=True),
        _flag("-t --trust", "trust", "Allow everything without asking.", everyday=True),
        _flag("--read-only", "read_only", "Use only tools that change nothing.", everyday=True),
        _flag("--root", "roots", "Let tools use this folder; repeatable.", Value("DIR", FOLDER), many=True,
              everyday=True),
        _flag("--file", "files", "Let tools use this file too; repeatable.", Value("FILE", FILE), many=True),
        _flag("--wait", "wait", "Wait for `marid approvals` in another terminal."),
    )),
    ("Output", (
        _flag("-v --verbose", "verbose", "Show what happens, on stderr.", everyday=True),
        _flag("--show-thinking", "show_thinking", "Show the model's reasoning, on stderr."),
        _flag("--hide-tool-calls", "hide_tool_calls", "Do not show tool calls."),
        _flag("--raw", "raw", "Print the answer as it is, without rendering markdown."),
        _flag("--json", "as_json", "Print lists, logs and tool results as JSON."),
    )),
    ("Other", (
        _flag("--home", "home", "Keep marid's files in DIR (default: MARID_HOME, else ~/.marid).",
              Value("DIR", FOLDER), where=True),
        _flag("--project-root", "project_root", "Use DIR as the project instead of the one found here.",
              Value("DIR", FOLDER), where=True),
        _flag("--debug", "debug", f"Show tracebacks, and log by KEYS: {', '.join(DEBUG_KEYS)}, md=FILE.",
              Value("KEYS", KEYS), where=True),
        _flag("--yes", "yes", "Do not ask before deleting (with -d, -D)."),
        _flag("-V --version", "version", "Show the version."),
        _flag("-h --help", "help", "Show the everyday flags and commands.", everyday=True),
        _flag("--help-all", "help_all", "Show all flags and commands."),
    )),
    ("Show (sends nothing to the model unless -X is given)", (
        _view_action("-l --list-current-context", "show", "Show the current conversation."),
        _view_action("-L --list-contexts", "list", "List all conversations; * marks the current one."),
        _view_action("-g --show-current-log", "log", "Show the last N entries (-N the first, 0 all).", _COUNT),
        _view_action("-G --show-log", "log_of", "Same, for conversation NAME.", _CONVERSATION, _COUNT),
        _view_action("-n --inspect-current", "inspect", "Show system_prompt, todos, goals or a setting; or `list`.",
                     _THING),
        _view_action("-N --inspect", "inspect_of", "Same, for conversation NAME.", _CONVERSATION, _THING),
        _view_action("--model-metadata", "model_info", "Show what is known about a model.", _MODEL),
        _view_action("--model-metadata-full", "model_info_full", "Same, with all that its provider lists.", _MODEL),
    )),
    ("Change (a prompt may follow a small letter; a capital letter sends nothing)", (
        _leading_action("-a --archive-current-history", "clear", "Archive the history: start with an empty window."),
        _final_action("-A --archive-history", "clear_of", "Same, for conversation NAME.", _CONVERSATION),
        _leading_action("-r --rename-current-context", "rename", "Rename the current conversation.", _NEW_NAME),
        _final_action("-R --rename-context", "rename_of", "Same, for conversation NAME.", _CONVERSATION, _NEW_NAME),
        _leading_action("-m --set-model", "set_model", "Use this model from now on, if its provider has it.", _MODEL),
        _final_action("-M --set-model-for-context", "set_model_of", "Same, for conversation NAME.", _CONVERSATION,
                      _MODEL),
        _leading_action("-y --set-current-system-prompt", "set_prompt", "Set the system prompt: a file, or the text.",
                        _PROMPT),
        _final_action("-Y --set-system-prompt", "set_prompt_of", "Same, for conversation NAME.", _CONVERSATION,
                      _PROMPT),
        _leading_action("-u --set-username", "set_username", "Set your name in this conversation.", Value("NAME")),
        _final_action("-d --destroy-current-context", "destroy", "Delete the current conversation; asks first.",
                      destroys=True),
        _final_action("-D --destroy-context", "destroy_of", "Delete conversation NAME; asks first.", _CONVERSATION,
                      destroys=True),
        _flag("--destroy-at", "destroy_at", "Delete it at this time (seconds since 1970).", Value("TS", SECONDS),
              before=True),
        _flag("--destroy-after-inactive", "destroy_after", "Delete it after SECS without activity.",
              Value("SECS", SECONDS), before=True),
    )),
    ("Run", (
        _action("-b --check-all-inboxes", "inboxes", "Process the inbox of every conversation."),
        _action("-B --check-inbox-for", "inbox_of", "Process NAME's inbox.", _CONVERSATION),
        _view_action("-P --call-tool", "tool", "Call a tool; with -X send its result to the model.",
                     Value("TOOL", TOOL), Value("JSON")),
        _flag("-x --force-call-user", "no_model", "Send nothing to the model."),
        _flag("-X --force-call-agent", "to_model", "Send it in any case; after -P let the model continue."),
    )),
)
# fmt: on
LETTER_GROUPS = 3
"""How many of the last groups are short forms of commands by letter."""
FLAGS = tuple(flag for _, flags in GROUPS for flag in flags)
ACCESS_FLAGS = ("roots", "files", "allow", "trust", "read_only", "wait")
"""What tools may use and do."""
RIGHTS_FLAGS = frozenset({"roots", "files", "allow", "trust", "no_mask"})
"""What widens that, or what is shown; an error message never suggests them."""
LOCATION_FLAGS = frozenset(flag.name for flag in FLAGS if flag.where)
LEADING_FLAGS = frozenset(flag.name for flag in FLAGS if flag.before)


def find_flag(name: str) -> Flag:
    """The flag of that name."""
    return next(flag for flag in FLAGS if flag.name == name)
