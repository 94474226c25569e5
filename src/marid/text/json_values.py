"""Read JSON of unknown shape."""

import json
from math import isfinite
from typing import Any, TypeGuard, cast


def parse_json(data: bytes | str) -> Any:
    """The JSON value, or None if the data is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is a list."""
    return isinstance(value, list)


def as_object(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if is_list(value) else []


def as_objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list; none for any other value."""
    return [item for item in as_list(value) if is_object(item)]


def parse_arguments(arguments: str) -> dict[str, object] | None:
    """The arguments of a tool call: {} for a blank text, None if it is not a JSON object."""
    if not arguments.strip():
        return {}
    try:
        found: object = _DECODER.decode(arguments)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def _parse_finite(text: str) -> float:
    """Python reads NaN and Infinity, which are not JSON; services reject a history with one. Raises: ValueError."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"'{text}' is not a JSON number")
    return value


_DECODER = json.JSONDecoder(parse_constant=_parse_finite, parse_float=_parse_finite)
