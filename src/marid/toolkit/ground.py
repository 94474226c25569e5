"""Places for tools whose document gives them no path."""

from typing import Protocol

from marid.workspace.guard import Place


class Ground(Protocol):
    """What the call may touch. A territory is one."""

    def place(self, raw: str, *, write: bool = False) -> Place:
        """Where the path leads, from the first root. Raises: BadInput for what is no path, Refused for what is kept."""
        ...
