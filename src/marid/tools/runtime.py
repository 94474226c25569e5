"""Looking at the running program."""

from marid.toolkit.spec import ToolSpec

TOOLS: tuple[ToolSpec, ...] = ()
