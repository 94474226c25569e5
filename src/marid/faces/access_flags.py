"""The flags that say what tools may use and do."""

from typing import Any

from marid.app.tool_access import ToolAccess
from marid.core.policy.policy import parse_effects

ACCESS_FLAGS = ("roots", "files", "allow", "trust", "read_only", "wait")


def access_from_flags(*given: dict[str, Any]) -> ToolAccess:
    """Combine flags given before and after the tool's name. Raises: BadInput for an unknown effect."""
    words = ",".join(word for flags in given for word in flags.get("allow", ()))
    return ToolAccess(
        roots=tuple(root for flags in given for root in flags.get("roots", ())),
        files=tuple(file for flags in given for file in flags.get("files", ())),
        allow=parse_effects(words) if words else frozenset(),
        trust=any(flags.get("trust") for flags in given),
        read_only=any(flags.get("read_only") for flags in given),
        wait=any(flags.get("wait") for flags in given),
    )
