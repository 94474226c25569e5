"""Looking into Python by its structure."""

from marid.toolkit.spec import ToolSpec

TOOLS: tuple[ToolSpec, ...] = ()
