"""Every flag of the command line, once: parsing, help, completion, docs and the options of commands are made of it.

A capital letter names a conversation, its small twin means the current one. Each is a short form of a command.
"""

from typing import NamedTuple

from marid.core.debug_logs import DEBUG_LOGS

# What a value is, and so what a shell offers for it. `previous` is a conversation or `-`, `any` may also be a new one.
NAME, PREVIOUS, ANY = "name", "previous", "any"
TEXT, NUMBER, SECONDS, THING, SETTING, KEYS = "text", "number", "seconds", "thing", "setting", "keys"
FILE, FOLDER, PATH, TOOL, TOOLS, MODEL, EFFECTS = "file", "folder", "path", "tool", "tools", "model", "effects"

FORCE_MARKDOWN = "force-markdown"
DEBUG_KEYS = (*DEBUG_LOGS, "all", FORCE_MARKDOWN)


class Value(NamedTuple):
    """One word that a flag takes."""

    metavar: str
    kind: str = TEXT


class Flag(NamedTuple):
    """One flag. One that `operates` does something itself; one that is `alone` says nothing to a model after that.

    One that says `where` everything is asks for nothing. One that comes `before` is done, or counts, before a command
    that follows it. One that is `for_json` goes with `--json`, one that `destroys` with `--yes`.
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

    @property
    def spellings(self) -> tuple[str, ...]:
        """As a person may write it."""
        return tuple(one for one in (self.short, self.long) if one)

    @property
    def usage(self) -> str:
        """As the help writes it."""
        values = " ".join(value.metavar for value in self.values)
        return f"{', '.join(self.spellings)} {values}".strip()


def _flag(flags: str, name: str, meaning: str, *values: Value, **marks: bool) -> Flag:
    short, long = _split_spellings(flags)
    return Flag(name, short, long, meaning, values, **marks)


def _action(flags: str, name: str, meaning: str, *values: Value, **marks: bool) -> Flag:
    """It does something, and a prompt may follow."""
    return _flag(flags, name, meaning, *values, operates=True, **marks)


def _leading_action(flags: str, name: str, meaning: str, *values: Value) -> Flag:
    """It does something, and a prompt or a command may follow."""
    return _action(flags, name, meaning, *values, before=True)


def _final_action(flags: str, name: str, meaning: str, *values: Value, **marks: bool) -> Flag:
    return _action(flags, name, meaning, *values, alone=True, **marks)


def _view_action(flags: str, name: str, meaning: str, *values: Value) -> Flag:
    """It shows something, to a program too."""
    return _final_action(flags, name, meaning, *values, for_json=True)


def _split_spellings(flags: str) -> tuple[str, str]:
    words = flags.split()
    short = words[0] if len(words[0]) == 2 else ""
    long = words[-1] if words[-1].startswith("--") else ""
    return short, long


_CONVERSATION = Value("NAME", PREVIOUS)
_ANY = Value("NAME", ANY)
_NEW_NAME = Value("NEW", NAME)
_COUNT = Value("N", NUMBER)
_THING = Value("THING", THING)
_MODEL = Value("MODEL", MODEL)
_PROMPT = Value("TEXT|FILE", PATH)

GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    (
        "Which conversation",
        (
            _flag(
                "-c --switch-context",
                "switch",
                "Mean this one from now on; -, new and new:PREFIX too.",
                _ANY,
                before=True,
            ),
            _flag("-C --ephemeral-context", "conversation", "Mean this one in this run only.", _ANY),
        ),
    ),
    (
        "Looking (and then nothing is said, unless -X is given)",
        (
            _view_action("-l --list-current-context", "show", "The current conversation in short."),
            _view_action("-L --list-contexts", "list", "All conversations; * marks the current one."),
            _view_action(
                "-g --show-current-log", "log", "Its last N entries; -N the first ones, 0 all of them.", _COUNT
            ),
            _view_action("-G --show-log", "log_of", "The same of another one.", _CONVERSATION, _COUNT),
            _view_action(
                "-n --inspect-current", "inspect", "system_prompt, todos, goals, a setting...; or list.", _THING
            ),
            _view_action("-N --inspect", "inspect_of", "The same of another one.", _CONVERSATION, _THING),
            _view_action("--model-metadata", "model_info", "What is known of a model.", _MODEL),
            _view_action("--model-metadata-full", "model_info_full", "All that its provider tells.", _MODEL),
        ),
    ),
    (
        "Changing (what is said comes after it; with a capital letter nothing is said)",
        (
            _leading_action(
                "-a --archive-current-history", "clear", "Archive the history: begin with an empty window."
            ),
            _final_action("-A --archive-history", "clear_of", "The same of another one.", _CONVERSATION),
            _leading_action(
                "-r --rename-current-context", "rename", "Give the current conversation another name.", _NEW_NAME
            ),
            _final_action("-R --rename-context", "rename_of", "The same for another one.", _CONVERSATION, _NEW_NAME),
            _leading_action("-m --set-model", "set_model", "Use this model in it; it is asked for first.", _MODEL),
            _final_action(
                "-M --set-model-for-context", "set_model_of", "The same for another one.", _CONVERSATION, _MODEL
            ),
            _leading_action(
                "-y --set-current-system-prompt", "set_prompt", "Its own system prompt: a file, or the text.", _PROMPT
            ),
            _final_action(
                "-Y --set-system-prompt", "set_prompt_of", "The same for another one.", _CONVERSATION, _PROMPT
            ),
            _leading_action("-u --set-username", "set_username", "What you are called in it.", Value("NAME")),
            _final_action(
                "-d --destroy-current-context",
                "destroy",
                "Destroy the current conversation; asks first.",
                destroys=True,
            ),
            _final_action("-D --destroy-context", "destroy_of", "Destroy another one.", _CONVERSATION, destroys=True),
            _flag(
                "--destroy-at",
                "destroy_at",
                "Destroy it at this time, in seconds since 1970.",
                Value("TS", SECONDS),
                before=True,
            ),
            _flag(
                "--destroy-after-inactive",
                "destroy_after",
                "Destroy it after so many idle ones.",
                Value("SECS", SECONDS),
                before=True,
            ),
            _flag("--yes", "yes", "Do not ask before something is destroyed."),
        ),
    ),
    (
        "Talking",
        (
            _action("-b --check-all-inboxes", "inboxes", "Let every conversation answer what it was sent."),
            _action("-B --check-inbox-for", "inbox_of", "Let this one.", _CONVERSATION),
            _view_action(
                "-P --call-tool", "tool", "Call a tool; with -X its result is said.", Value("TOOL", TOOL), Value("JSON")
            ),
            _flag(
                "-U --ephemeral-username", "username", "What you are called in this run.", Value("NAME"), before=True
            ),
            _flag(
                "-s --set",
                "sets",
                "A setting for this run; repeatable.",
                Value("KEY=VALUE", SETTING),
                many=True,
                before=True,
            ),
            _flag("--model", "model", "The model for this run; provider:model names both.", _MODEL, before=True),
            _flag(
                "--include",
                "include",
                "Offer it only these tools; repeatable.",
                Value("TOOLS", TOOLS),
                many=True,
                before=True,
            ),
            _flag("--exclude", "exclude", "Do not offer it these.", Value("TOOLS", TOOLS), many=True, before=True),
            _flag("-x --force-call-user", "no_model", "Say nothing to a model."),
            _flag("-X --force-call-agent", "to_model", "Say it in any case; after -P the model goes on by itself."),
            _flag("--no-tool-calls", "no_tool_calls", "Give the model no tools.", before=True),
            _flag("--wait-lock", "wait_lock", "Wait so long for whoever holds the conversation.", Value("SECONDS")),
        ),
    ),
    (
        "What is shown",
        (
            _flag("-v --verbose", "verbose", "Tell what happens, on stderr."),
            _flag("--show-thinking", "show_thinking", "Show what the model thinks, on stderr."),
            _flag("--hide-tool-calls", "hide_tool_calls", "Do not tell which tools it calls."),
            _flag("--raw", "raw", "The answer as it is, not as rendered markdown."),
            _flag("--json", "as_json", "Lists, logs and results of tools for a program."),
        ),
    ),
    (
        "What tools may do",
        (
            _flag("-t --trust", "trust", "Do not ask for anything."),
            _flag("--allow", "allow", "Do not ask for: write, exec, net, spawn.", Value("EFFECTS", EFFECTS), many=True),
            _flag("--read-only", "read_only", "Only tools that change nothing."),
            _flag("--root", "roots", "A folder that tools may touch; repeatable.", Value("DIR", FOLDER), many=True),
            _flag("--file", "files", "A single file besides; repeatable.", Value("FILE", FILE), many=True),
            _flag("--wait", "wait", "Let a question wait for an answer from elsewhere (marid approvals)."),
        ),
    ),
    (
        "Other",
        (
            _flag(
                "--home",
                "home",
                "Where marid keeps its own files (MARID_HOME, else ~/.marid).",
                Value("DIR", FOLDER),
                where=True,
            ),
            _flag(
                "--project-root",
                "project_root",
                "The project, instead of the one found here.",
                Value("DIR", FOLDER),
                where=True,
            ),
            _flag(
                "--debug",
                "debug",
                f"Show tracebacks, and by KEYS: {', '.join(DEBUG_KEYS)}, md=FILE.",
                Value("KEYS", KEYS),
                where=True,
            ),
            _flag("-V --version", "version", "Which marid this is."),
            _flag("-h --help", "help", "This page."),
        ),
    ),
)
FLAGS = tuple(flag for _, flags in GROUPS for flag in flags)
LOCATION_FLAGS = frozenset(flag.name for flag in FLAGS if flag.where)
LEADING_FLAGS = frozenset(flag.name for flag in FLAGS if flag.before)


def find_flag(name: str) -> Flag:
    """The one of that name."""
    return next(flag for flag in FLAGS if flag.name == name)
