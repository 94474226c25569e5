import pytest

from marid.core.errors import BadInput, NotFound
from marid.core.policy.policy import Effect
from marid.toolkit.inventory import Inventory, LazyInventory, ToolSource
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import Alias, ToolSpec


def _spec(name: str, family: str = "files", *aliases: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        family=family,
        effect=Effect.READ,
        body=lambda: ToolOutput(text=name),
        aliases=tuple(Alias(name=alias) for alias in aliases),
    )


READ, LIST, RUN = _spec("read_file"), _spec("list_directory", "files", "dir_list"), _spec("run_shell", "shell")
ALL = Inventory([READ, LIST, RUN])


def test_a_tool_is_found_by_its_name_and_by_its_alias() -> None:
    assert ALL.find("list_directory") is LIST
    assert ALL.find("dir_list") is LIST
    assert list(ALL) == [READ, LIST, RUN]


def test_families_are_picked() -> None:
    assert ALL.families == ("files", "shell")
    assert list(ALL.with_families(["shell"])) == [RUN]
    with pytest.raises(BadInput, match="no family is called 'shel'; families are files, shell"):
        ALL.with_families(["shel", "files"])


def test_a_lazy_inventory_imports_a_module_when_one_of_its_tools_is_looked_up() -> None:
    modules = {"read_file": "marid.tools.files", "web_search": "marid.tools.network", "no_such": "marid.tools.gone"}
    lazy = LazyInventory(modules)
    assert (lazy.find("read_file").name, lazy.get("nonsense"), lazy.names()) == ("read_file", None, tuple(modules))
    with pytest.raises(NotFound, match="did you mean 'read_file'"):
        lazy.find("readfile")
    with pytest.raises(ModuleNotFoundError):
        list(lazy)


def test_a_lazy_inventory_has_the_tools_of_other_sources_too() -> None:
    lazy = LazyInventory({"read_file": "marid.tools.files"}, ToolSource("plugin", [READ, RUN]))
    names = ("read_file", "plugin_read_file", "run_shell")
    assert (lazy.names(), tuple(spec.name for spec in lazy)) == (names, names)
    assert lazy.warnings == ("the tool 'read_file' of plugin is called 'plugin_read_file': its name is taken",)
    assert (lazy.get("run_shell"), lazy.get("nonsense"), lazy.families) == (RUN, None, ("files", "shell"))
    assert list(lazy.with_families(["shell"])) == [RUN]


def test_two_tools_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="same name"):
        Inventory([READ, _spec("x", "files", "read_file")])


def test_a_name_that_two_sources_have_belongs_to_the_first() -> None:
    plugin = ToolSource("plugin", [_spec("read_file"), _spec("new", "files", "dir_list", "fresh"), _spec("read_file")])
    found = Inventory.from_sources(ToolSource("builtin", ALL), plugin)
    assert found.find("read_file") == READ
    assert found.names() == (*ALL.names(), "plugin_read_file", "new", "fresh")
    assert found.warnings == (
        "the tool 'read_file' of plugin is called 'plugin_read_file': its name is taken",
        "the tool 'read_file' of plugin is left out: its name is taken",
    )
    assert found.with_families(["shell"]).warnings == found.warnings
