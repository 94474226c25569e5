"""Every tool of this program: a tool is in it if and only if `module_index` names it."""

from marid.toolkit.inventory import LazyInventory
from marid.toolkit.spec import ToolSpec
from marid.tools.module_index import TOOL_MODULES

TOOLS: tuple[ToolSpec, ...] = tuple(LazyInventory(TOOL_MODULES))
