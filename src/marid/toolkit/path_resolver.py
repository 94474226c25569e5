"""Places for tools whose document gives them no path."""

from typing import Protocol

from marid.workspace.guard.api import GuardedPath


class PathResolver(Protocol):
    """What the call may touch. A territory is one."""

    def resolve(self, raw: str, *, write: bool = False) -> GuardedPath:
        """Where the path leads, from the first root. Raises: BadInput for what is no path, Refused for what is kept."""
        ...
