"""The JSON schema of the input, which is both printed for programs and checked."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, cast

from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, UNSUPPORTED_KEYS, Setting
from marid.core.suggestions import close_matches, did_you_mean
from marid.faces.flags import DEBUG_LOGS
from marid.faces.json_input import CONVERSATION, raise_problems, schema_problems
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


# The schema of `config`, made from the settings that a conversation may have.
_NONEMPTY_TEXT: _Schema = {"type": "string", "pattern": r"[\s\S]", "description": "a string that is not empty"}
_VERDICT: _Schema = {"enum": ["allow", "ask", "deny"]}
_POLICY: _Schema = {
    "type": "object",
    "properties": {
        "hosts": {"type": "array", "items": {"type": "string", "pattern": "^[^/]+$"}},
        "outside": {"enum": ["ask", "deny"]},
        "ask_seconds": {"type": "number", "exclusiveMinimum": 0},
        "plan_limit": {"type": "number", "exclusiveMinimum": 0},
        "tools": {"type": "object", "additionalProperties": _VERDICT},
    },
    "additionalProperties": _VERDICT,
}


def _table(required: str, **properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": required.split()}


_CHOICE: _Schema = {
    "anyOf": [
        {"enum": ["auto", "none", "required", None]},
        _table("type function", type={"enum": ["function"]}, function=_table("name", name=_NONEMPTY_TEXT)),
    ]
}
_FORMAT: _Schema = {
    "anyOf": [
        {"type": "null"},
        _table("type", type={"enum": ["text", "json_object"]}),
        _table("type json_schema", type={"enum": ["json_schema"]}, json_schema=_table("schema", schema=_table(""))),
    ]
}
# By kind of setting; a setting may restrict it further.
KIND_SCHEMAS: Mapping[str, _Schema] = MappingProxyType(
    {
        "switch": {"type": "boolean"},
        "whole": {"type": "integer", "minimum": 0, "maximum": 10**15},
        "number": {"type": "number"},
        "text": TEXT,
        "line": _NONEMPTY_TEXT,
        "url": TEXT,
        "list": {"type": "array", "items": TEXT},
        "stop": {"type": ["array", "string"], "items": _NONEMPTY_TEXT, "pattern": r"[\s\S]"},
        "policy": _POLICY,
        "tool_choice": _CHOICE,
        "response_format": _FORMAT,
    }
)


def config_schema() -> dict[str, Any]:
    """Null sets nothing. Keys of Chibi that are not supported yet are accepted and ignored."""
    rows = [one for one in SETTINGS if one.per_conversation and not one.display]
    later = {name: {"description": "not supported yet"} for name in sorted(UNSUPPORTED_KEYS)}
    shape = _table_schema("", rows)
    shape["properties"] |= later
    return {**shape, "description": "settings, as in local.toml"}


def _table_schema(table: str, rows: Iterable[Setting]) -> dict[str, Any]:
    """The settings in one table; "" for the top level."""
    rows = list(rows)
    own = {one.name.rpartition(".")[2]: one for one in rows if one.name.rpartition(".")[0] == table}
    shapes = {key: _setting_schema(one, rows) for name, one in own.items() for key in (name, *one.keys)}
    return {"type": ["object", "null"], "properties": shapes, "additionalProperties": False}


def _setting_schema(setting: Setting, rows: list[Setting]) -> dict[str, Any]:
    if setting.kind != "table":
        return {**_nullable(_value_schema(setting)), "description": setting.meaning}
    if any(one.name.startswith(f"{setting.name}.{ANY_PROVIDER}.") for one in rows):
        each = _table_schema(f"{setting.name}.{ANY_PROVIDER}", rows)
        return {"type": ["object", "null"], "additionalProperties": each, "description": setting.meaning}
    return {**_table_schema(setting.name, rows), "description": setting.meaning}


def _value_schema(setting: Setting) -> dict[str, Any]:
    kind = setting.kind
    limits = {"minimum": setting.minimum, "maximum": setting.maximum}
    known = {name: limit for name, limit in limits.items() if limit is not None}
    choices = {"enum": list(setting.choices)} if setting.choices and kind == "text" else {}
    return {**KIND_SCHEMAS[kind], **known, **choices}


def _nullable(shape: dict[str, Any]) -> dict[str, Any]:
    kinds = shape.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    given = {"type": [*kinds, "null"]} if kinds else {}
    return {**shape, **given, **({"enum": [*shape["enum"], None]} if "enum" in shape else {})}
