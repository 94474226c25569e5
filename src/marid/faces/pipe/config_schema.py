"""The JSON schema of `config`, made from the settings that a conversation may have."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, UNSUPPORTED_KEYS, Setting

_Shape = Mapping[str, Any]

_TEXT: _Shape = {"type": "string"}
_NONEMPTY_TEXT: _Shape = {"type": "string", "pattern": r"[\s\S]", "description": "a string that is not empty"}
_VERDICT: _Shape = {"enum": ["allow", "ask", "deny"]}
_POLICY: _Shape = {
    "type": "object",
    "properties": {
        "hosts": {"type": "array", "items": {"type": "string", "pattern": "^[^/]+$"}},
        "outside": {"enum": ["ask", "deny"]},
        "tools": {"type": "object", "additionalProperties": _VERDICT},
    },
    "additionalProperties": _VERDICT,
}


def _table(required: str, **properties: _Shape) -> _Shape:
    return {"type": "object", "properties": properties, "required": required.split()}


_CHOICE: _Shape = {
    "anyOf": [
        {"enum": ["auto", "none", "required", None]},
        _table("type function", type={"enum": ["function"]}, function=_table("name", name=_NONEMPTY_TEXT)),
    ]
}
_FORMAT: _Shape = {
    "anyOf": [
        {"type": "null"},
        _table("type", type={"enum": ["text", "json_object"]}),
        _table("type json_schema", type={"enum": ["json_schema"]}, json_schema=_table("schema", schema=_table(""))),
    ]
}
# By kind of setting; a setting may restrict it further.
KIND_SCHEMAS: Mapping[str, _Shape] = MappingProxyType(
    {
        "switch": {"type": "boolean"},
        "whole": {"type": "integer", "minimum": 0, "maximum": 10**15},
        "number": {"type": "number"},
        "text": _TEXT,
        "line": _NONEMPTY_TEXT,
        "url": _TEXT,
        "list": {"type": "array", "items": _TEXT},
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
