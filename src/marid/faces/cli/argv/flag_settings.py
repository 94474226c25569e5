"""The settings that the flags of one run give, by key. Knows no click."""

from collections.abc import Mapping
from typing import Any

from marid.core.errors import BadInput


def settings_from(given: Mapping[str, Any]) -> dict[str, object]:
    """Of flags by name; one that means a single setting is stronger than `-s`.

    Raises: BadInput for a setting without its value.
    """
    found: dict[str, object] = dict(map(parse_assignment, given.get("sets", ())))
    if given.get("model"):
        found["model"] = given["model"]
    if given.get("username") is not None:
        found["username"] = given["username"]
    if given.get("no_tool_calls"):
        found["no_tool_calls"] = True
    for name in ("include", "exclude"):
        if tools := tuple(tool for words in given.get(name, ()) for tool in words.split(",") if tool):
            found[f"tools.{name}"] = tools
    return found


def parse_assignment(text: str) -> tuple[str, str]:
    """The key and the value of KEY=VALUE. Raises: BadInput."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadInput("-s takes KEY=VALUE")  # not what was given: it may be a key
    return key, value
