"""Running commands."""

from marid.toolkit.spec import ToolSpec

TOOLS: tuple[ToolSpec, ...] = ()
