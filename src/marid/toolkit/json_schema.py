"""JSON schemas as every client reads them: whole in one piece, without titles that only repeat names."""

from collections.abc import Mapping
from typing import Any, cast

_MAX_DEPTH = 20
_VALUES = frozenset({"default", "const", "enum", "examples"})


def inline_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with every `$ref` replaced by what it refers to. Raises: ValueError for one that holds itself."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    whole = _inline_node({key: value for key, value in schema.items() if key != "$defs"}, definitions, 0)
    whole.setdefault("properties", {})
    whole.pop("description", None)
    return whole


def _inline_node(node: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise ValueError("a parameter's type holds itself; a tool's parameters must be finite")
    if (reference := node.get("$ref")) is not None:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inline_node({**definitions[reference.rpartition("/")[2]], **beside}, definitions, depth + 1)
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "title":
            continue
        if key == "properties":
            made[key] = {name: _inline_node(one, definitions, depth + 1) for name, one in value.items()}
        else:
            made[key] = value if key in _VALUES else _inline_value(value, definitions, depth + 1)
    return made


def _inline_value(value: Any, definitions: Mapping[str, Any], depth: int) -> Any:
    if isinstance(value, dict):
        return _inline_node(cast("dict[str, Any]", value), definitions, depth)
    if isinstance(value, list):
        return [_inline_value(one, definitions, depth) for one in cast("list[Any]", value)]
    return value
