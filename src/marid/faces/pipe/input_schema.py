"""The shape of what comes in, as a JSON schema: it is printed for programs, and it is what is checked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from marid.core.debug_logs import DEBUG_LOGS
from marid.core.errors import BadInput
from marid.faces.pipe.schema_check import CONVERSATION, check_schema, suggestion
from marid.text.conversation_names import MAX_LENGTH

_Schema = Mapping[str, Any]

# The end of a text: `$` is also before a last newline for some who read a schema.
_END = r"(?![\s\S])"
_NAME_PATTERN = rf"^(?!(-|new|[sS][yY][sS][tT][eE][mM]){_END})[A-Za-z0-9_-]{{1,{MAX_LENGTH}}}{_END}"
# Beyond that a time is none.
_MAX_SECONDS = 10**12
DEBUG = (*(name.replace("-", "_") for name in DEBUG_LOGS), "all")

TEXT: _Schema = {"type": "string"}
NAME: _Schema = {"type": "string", "format": CONVERSATION, "pattern": _NAME_PATTERN}
NAME_OR_NULL: _Schema = {**NAME, "type": ["string", "null"], "description": "null: the one of `context`"}
NONBLANK_TEXT: _Schema = {"type": "string", "pattern": r"\S", "description": "a text that is not blank"}
FOLDER: _Schema = {"type": ["string", "null"], "pattern": r"^[^\x00]+$", "description": "the path of a folder"}
SWITCH: _Schema = {"type": "boolean"}
SECONDS: _Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": _MAX_SECONDS}

COMMANDS_WITHOUT_FIELDS = (
    "list_contexts",
    "list_current_context",
    "check_all_inboxes",
    "show_help",
    "show_version",
    "no_op",
)
PLANNED_COMMANDS = ("compact_context", "run_plugin", "clear_cache", "cleanup_cache")


def _object(required: str, **properties: _Schema) -> _Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


# Commands with fields.
COMMAND_FIELDS: Mapping[str, _Schema] = MappingProxyType(
    {
        "send_prompt": _object("prompt", prompt=NONBLANK_TEXT),
        "destroy_context": _object("", name=NAME_OR_NULL),
        "archive_history": _object("", name=NAME_OR_NULL),
        "rename_context": _object("new", old=NAME_OR_NULL, new=NAME),
        "show_log": _object(
            "count",
            context=NAME_OR_NULL,
            count={"type": "integer", "description": "the last ones; negative: the first ones; 0: all"},
        ),
        "inspect": _object("thing", context=NAME_OR_NULL, thing=TEXT),
        "set_system_prompt": _object("prompt", context=NAME_OR_NULL, prompt=TEXT),
        "set_model": _object("model", context=NAME_OR_NULL, model=NONBLANK_TEXT),
        "call_tool": _object(
            "name args",
            name=TEXT,
            args={
                "type": "array",
                "items": TEXT,
                "description": "joined by spaces they are a JSON object, the arguments; none: {}",
            },
        ),
        "check_inbox": _object("context", context=NAME),
        "model_metadata": _object("model full", model=NONBLANK_TEXT, full=SWITCH),
    }
)

FLAGS: _Schema = {
    "type": ["object", "null"],
    "properties": {
        "force_call_agent": {**SWITCH, "description": "the model goes on until it gives the word back"},
        "force_call_user": {**SWITCH, "description": "an answer ends the round"},
        "debug": {"type": "array", "items": {"type": "string", "enum": list(DEBUG)}},
        "destroy_at": {**SECONDS, "description": "when the conversation ends, in seconds since 1970; 0: never"},
        "destroy_after_seconds_inactive": {**SECONDS, "description": "0: never"},
        "trust": {**SWITCH, "description": "nothing needs an approval"},
    },
    "additionalProperties": False,
}


def input_schema(config: _Schema) -> dict[str, Any]:
    """Of the whole input; `config` is the shape of what local.toml may hold."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "marid json",
        "description": "One object on stdin; JSON lines come back.",
        "type": "object",
        "properties": {
            "command": {
                "oneOf": [{"enum": list(COMMANDS_WITHOUT_FIELDS)}, *(_command_schema(name) for name in COMMAND_FIELDS)]
            },
            "context": {**NAME, "description": "the name of the conversation"},
            "flags": FLAGS,
            "home": FOLDER,
            "project_root": FOLDER,
            "config": config,
            "overrides": {
                "type": ["object", "null"],
                "additionalProperties": TEXT,
                "description": "settings above all others, by key, such as api.temperature",
            },
        },
        "required": ["command", "context"],
    }


def _command_schema(name: str) -> _Schema:
    return _object(name, **{name: COMMAND_FIELDS[name]})


def check_input(value: Mapping[str, Any], config: _Schema) -> None:
    """Raises: BadInput for what the schema does not allow."""
    whole = input_schema(config)
    check_schema({**value}, {**whole, "properties": {**whole["properties"], "command": {}}}, "")
    check_command(value["command"])


def unknown_key_notes(value: Mapping[str, Any]) -> tuple[str, ...]:
    """What is said of the keys of the whole input that nobody knows: a program may mark its requests with its own."""
    known = input_schema({})["properties"]
    return tuple(
        f"'{name[:100]}' is not known, and not used{suggestion(name, known)}" for name in value if name not in known
    )


def check_command(command: object) -> None:
    """Of a choice between so many shapes the nearest is explained, not all. Raises: BadInput."""
    if isinstance(command, str):
        if command not in COMMANDS_WITHOUT_FIELDS:
            raise BadInput(_unknown_command(command, as_text=True))
        return
    named = list(cast("dict[str, object]", command).items()) if isinstance(command, dict) else []
    if len(named) != 1:
        raise BadInput("'command' must be a text, or an object with the command as its only key")
    ((name, fields),) = named
    if name not in COMMAND_FIELDS:
        raise BadInput(_unknown_command(name, as_text=False))
    check_schema(fields, COMMAND_FIELDS[name], f"command.{name}")


def _unknown_command(name: str, *, as_text: bool) -> str:
    if name in PLANNED_COMMANDS:
        return f"the command '{name}' is not built yet"
    if as_text and name in COMMAND_FIELDS:
        return f"the command '{name}' has fields: give it as an object with '{name}' as its only key"
    if not as_text and name in COMMANDS_WITHOUT_FIELDS:
        return f"the command '{name}' has no fields: give it as a text"
    names = (*COMMANDS_WITHOUT_FIELDS, *COMMAND_FIELDS)
    fits = suggestion(name, names) or f"; there are {', '.join(names)}"
    return f"there is no command '{name[:100]}'{fits}"
