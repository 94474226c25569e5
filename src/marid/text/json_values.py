"""Read JSON of unknown shape."""

import json
from typing import Any, TypeGuard


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
