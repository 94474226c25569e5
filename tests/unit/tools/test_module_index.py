from importlib import import_module

from marid.toolkit.inventory import LazyInventory
from marid.tools.builtin import TOOLS
from marid.tools.module_index import TOOL_MODULES


def test_the_index_has_every_name_of_every_tool_in_order() -> None:
    specs = [spec for module in dict.fromkeys(TOOL_MODULES.values()) for spec in import_module(module).TOOLS]
    assert list(TOOL_MODULES) == [name for spec in specs for name in spec.names]
    assert list(TOOLS) == specs
    lazy = LazyInventory(TOOL_MODULES)
    assert [lazy.find(name) for name in lazy.names()] == [spec for spec in specs for _ in spec.names]
