"""JSON of which nothing is known."""

import json
from typing import Any, cast


def parse_json(data: bytes | str) -> Any:
    """The JSON value, or None if it is none."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def parse_object(text: str) -> Any:
    """The JSON object in `text`; a text that is none stays a text, which no client expects."""
    value = parse_json(text)
    return cast("Any", value) if isinstance(value, dict) else text


def as_object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; what is no list has none."""
    return [as_object(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []
