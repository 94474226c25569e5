"""Looking into and changing C and C++."""

from marid.toolkit.spec import ToolSpec

TOOLS: tuple[ToolSpec, ...] = ()
