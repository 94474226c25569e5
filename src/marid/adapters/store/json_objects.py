"""JSON objects that other programs may have written: bounded in depth, and their fields checked one by one."""

import json
from collections.abc import Mapping
from typing import TypeGuard, cast

from marid.core.conversation.records import Corrupt

# Far below Python's own recursion limit wherever we are called from, far above any honest value.
MAX_DEPTH = 200
_MAX_TIME = 10**14


def check_depth(text: str | bytes, *values: object) -> None:
    """Raises: ValueError if one of the values, parsed from `text` or written as it, is nested too deep."""
    # Counting brackets is cheap, and few texts have that many.
    openings = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if openings > MAX_DEPTH and any(map(_is_deep, values)):
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


def _is_deep(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [item for outer in level for item in _nested_values(outer)]
        if not level:
            return False
    return True


def _nested_values(value: object) -> list[object]:
    """The containers directly inside a container."""
    if isinstance(value, Mapping):
        inner = list(cast("Mapping[str, object]", value).values())
    elif isinstance(value, list | tuple):
        inner = list(cast("list[object]", value))
    else:
        return []
    return [item for item in inner if isinstance(item, Mapping | list | tuple)]


def parse_object(data: bytes | None) -> dict[str, object] | None:
    """The JSON object, or None if the bytes are not one that could be written again."""
    try:
        found = json.loads(data or b"")
        check_depth(data or b"", found)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def require_object(path: str, data: bytes) -> dict[str, object]:
    """The content of that file. Raises: Corrupt if it is not an object."""
    found = parse_object(data)
    if found is None:
        raise Corrupt(f"'{path}' is not a JSON object; repair it or remove it")
    return found


def pretty_json(value: object) -> bytes:
    """Indented JSON, in the format of Chibi's own files."""
    return json.dumps(value, indent=2).encode() + b"\n"


def integers(value: object) -> list[int]:
    """The integers in a list; empty if it is not a list."""
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in found if type(item) is int]


def is_time(value: object) -> TypeGuard[int]:
    """Whether a number can be a time: others make `time.gmtime` fail."""
    return type(value) is int and 0 <= value < _MAX_TIME
