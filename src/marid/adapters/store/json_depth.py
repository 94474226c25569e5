"""How deep a value may be nested: what is deeper can be read somewhere and not be written elsewhere."""

from collections.abc import Mapping
from typing import cast

# Far below what Python's own limit allows wherever we are called from, far above what anybody means.
MAX_DEPTH = 200


def check_depth(text: str | bytes, *values: object) -> None:
    """Raises: ValueError when one of the values, which were read from or written as `text`, is nested too deep."""
    # So many brackets are rare, and counting them is cheap.
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
    """The values in a list or an object that have others in them themselves."""
    if isinstance(value, Mapping):
        inner = list(cast("Mapping[str, object]", value).values())
    elif isinstance(value, list | tuple):
        inner = list(cast("list[object]", value))
    else:
        return []
    return [item for item in inner if isinstance(item, Mapping | list | tuple)]
