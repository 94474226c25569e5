"""The settings that flags set for one run."""

from collections.abc import Mapping
from typing import Any

from marid.core.errors import BadInput


def settings_from(given: Mapping[str, Any]) -> dict[str, object]:
    """The settings by key; a flag for one setting is stronger than `-s`. Raises: BadInput for `-s` without a value."""
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
    """Split KEY=VALUE. Raises: BadInput."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadInput("-s takes KEY=VALUE")  # without the text itself, which may be a secret
    return key, value
