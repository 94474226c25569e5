"""Looking into code of any language."""

from marid.toolkit.spec import ToolSpec

TOOLS: tuple[ToolSpec, ...] = ()
