"""JSON of which nothing is known."""

import json
from typing import Any, cast


def parsed(data: bytes | str) -> Any:
    """The JSON value, or None if it is none."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def parsed_object(text: str) -> Any:
    """The JSON object in `text`; a text that is none stays a text, which no client expects."""
    value = parsed(text)
    return cast("Any", value) if isinstance(value, dict) else text


def table(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; what is no list has none."""
    return [table(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []
