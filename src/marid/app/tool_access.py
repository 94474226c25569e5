"""What one run may access and do."""

from dataclasses import dataclass

from marid.core.policy.policy import Effect


@dataclass(frozen=True, kw_only=True)
class ToolAccess:
    """What one run may access and do, as the flags say; the settings decide the rest."""

    roots: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    allow: frozenset[Effect] = frozenset()
    trust: bool = False
    read_only: bool = False
    wait: bool = False
    rootless: bool = False
    """Outside a project and without named roots, continue with none instead of an error."""
