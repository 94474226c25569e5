"""The JSON schema of the input, which is both printed for programs and checked."""

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, cast

from marid.core.suggestions import close_matches, did_you_mean
from marid.faces.flags import DEBUG_LOGS
from marid.faces.json_input import CONVERSATION, raise_problems, schema_problems
from marid.faces.pipe.config_schema import config_schema
from marid.text.conversation_names import MAX_LENGTH

_Schema = Mapping[str, Any]

# The end of a string: some validators let `$` match before a last newline.
_END = r"(?![\s\S])"
_NAME_PATTERN = rf"^(?!(-|new|[sS][yY][sS][tT][eE][mM]){_END})[A-Za-z0-9_-]{{1,{MAX_LENGTH}}}{_END}"
_MAX_SECONDS = 10**12
DEBUG = (*(name.replace("-", "_") for name in DEBUG_LOGS), "all")

TEXT: _Schema = {"type": "string"}
NAME: _Schema = {"type": "string", "format": CONVERSATION, "pattern": _NAME_PATTERN}
NAME_OR_NULL: _Schema = {**NAME, "type": ["string", "null"], "description": "null: the conversation of `context`"}
NONBLANK_TEXT: _Schema = {"type": "string", "pattern": r"\S", "description": "a string that is not blank"}
FOLDER: _Schema = {"type": ["string", "null"], "pattern": r"^[^\x00]+$", "description": "the path of a folder"}
SWITCH: _Schema = {"type": "boolean"}
SECONDS: _Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": _MAX_SECONDS}

COMMANDS_WITHOUT_FIELDS = (
    *("list_contexts", "list_current_context", "check_all_inboxes"),
    *("show_help", "show_version", "no_op"),
)
PLANNED_COMMANDS = ("compact_context", "run_plugin", "clear_cache", "cleanup_cache")


def _object(required: str, **properties: _Schema) -> _Schema:
    needed = required.split()
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


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
            count={"type": "integer", "description": "the number of last entries; negative: of first entries; 0: all"},
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
                "description": "joined by spaces: a JSON object with the arguments; none: {}",
            },
        ),
        "check_inbox": _object("context", context=NAME),
        "model_metadata": _object("model full", model=NONBLANK_TEXT, full=SWITCH),
    }
)

FLAGS: _Schema = {
    "type": ["object", "null"],
    "properties": {
        "force_call_agent": {**SWITCH, "description": "the model goes on until it calls call_user"},
        "force_call_user": {**SWITCH, "description": "an answer ends the round"},
        "debug": {"type": "array", "items": {"type": "string", "enum": list(DEBUG)}},
        "destroy_at": {**SECONDS, "description": "when to delete the conversation, in seconds since 1970; 0: never"},
        "destroy_after_seconds_inactive": {**SECONDS, "description": "0: never"},
        "trust": {**SWITCH, "description": "allow everything without approval"},
    },
    "additionalProperties": False,
}


def input_schema() -> dict[str, Any]:
    """The schema of the whole input."""
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
            "config": config_schema(),
            "overrides": {
                "type": ["object", "null"],
                "additionalProperties": TEXT,
                "description": "settings that override all others, by key, such as api.temperature",
            },
        },
        "required": ["command", "context"],
    }


def _command_schema(name: str) -> _Schema:
    return _object(name, **{name: COMMAND_FIELDS[name]})


def check_input(value: Mapping[str, Any]) -> None:
    """Raises: BadInput with everything that the schema does not allow."""
    whole = input_schema()
    others: _Schema = {**whole, "properties": {**whole["properties"], "command": {}}}
    problems = schema_problems({**value}, others, "")
    raise_problems(chain(problems, _command_problems(value["command"]) if "command" in value else ()))


def unknown_key_notes(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Notes about unknown top-level keys, which are ignored: a program may mark its requests with its own."""
    known = input_schema()["properties"]
    return tuple(
        f"unknown key '{name[:100]}' is ignored{did_you_mean(close_matches(name, known))}"
        for name in value
        if name not in known
    )


def _command_problems(command: object) -> Iterator[str]:
    """The problems of the command that was probably meant, not of all alternatives in the schema."""
    if isinstance(command, str):
        if command not in COMMANDS_WITHOUT_FIELDS:
            yield _unknown_command(command, as_string=True)
        return
    named = list(cast("dict[str, object]", command).items()) if isinstance(command, dict) else []
    if len(named) != 1:
        yield "'command' must be a string, or an object with the command as its only key"
        return
    ((name, fields),) = named
    if name in COMMAND_FIELDS:
        yield from schema_problems(fields, COMMAND_FIELDS[name], f"command.{name}")
    else:
        yield _unknown_command(name, as_string=False)


def _unknown_command(name: str, *, as_string: bool) -> str:
    if name in PLANNED_COMMANDS:
        return f"the command '{name}' is not supported yet"
    if as_string and name in COMMAND_FIELDS:
        return f"the command '{name}' has fields: send an object with '{name}' as its only key"
    if not as_string and name in COMMANDS_WITHOUT_FIELDS:
        return f"the command '{name}' has no fields: send it as a string"
    names = (*COMMANDS_WITHOUT_FIELDS, *COMMAND_FIELDS)
    near = did_you_mean(close_matches(name, names))
    return f"unknown command '{name[:100]}'{near or '; commands: ' + ', '.join(names)}"
