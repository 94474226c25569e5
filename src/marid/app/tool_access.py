"""What one run may touch and do."""

from dataclasses import dataclass

from marid.core.policy.policy import Effect


@dataclass(frozen=True, kw_only=True)
class ToolAccess:
    """What one run may touch and do, as flags say it; what they leave open the settings decide."""

    roots: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    allow: frozenset[Effect] = frozenset()
    trust: bool = False
    read_only: bool = False
    wait: bool = False
    rootless: bool = False
    """Where the working directory belongs to no project and nothing is named, go on with nothing to touch."""
