from marid.toolkit.inventory import LazyInventory, load_tools
from marid.tools.builtin import TOOLS
from marid.tools.module_index import TOOL_MODULES


def test_the_index_has_every_name_of_every_tool_that_a_module_defines() -> None:
    defined = {spec for module in TOOL_MODULES.values() for spec in load_tools(module)}
    assert set(TOOLS) == defined
    assert list(TOOL_MODULES) == [name for spec in TOOLS for name in spec.names]
    lazy = LazyInventory(TOOL_MODULES)
    assert [lazy.find(name) for name in lazy.names()] == [spec for spec in TOOLS for _ in spec.names]
