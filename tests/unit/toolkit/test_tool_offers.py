from pathlib import Path

import pytest

from fakes.dispatcher import CallHarness
from fakes.rounds import TOOLS, look
from marid.core.policy.policy import Effect
from marid.core.settings.values import make_settings
from marid.engine.round_services import RoundHandoff
from marid.ports.handoff import Handoff
from marid.toolkit.inventory import Inventory
from marid.toolkit.tool_offers import filter_tools, tool_offers, unknown_tool_names
from marid.tools.builtin import TOOLS as ALL

INVENTORY = Inventory(ALL)


def names(**tools: tuple[str, ...]) -> set[str]:
    return {spec.name for spec in filter_tools(INVENTORY, make_settings(tools=tools))}


def test_tools_are_included_and_excluded_by_any_of_their_names() -> None:
    assert names(include=("shell_exec", "read_file")) == {INVENTORY.find("shell_exec").name, "read_file"}
    assert "read_file" not in names(exclude=("read_file",))
    assert names(include=("read_file",), exclude=("read_file",)) == set()
    assert names(include=()) == set()


def test_read_context_names_the_tool_that_chibi_calls_so_too() -> None:
    assert {"read_conversation", "read_context"}.isdisjoint(names(exclude=("read_context",)))
    assert names(include=("read_context",)) == {"read_context", "read_conversation"}
    assert (
        unknown_tool_names(INVENTORY, make_settings(tools={"include": ("read_context",), "exclude": ("read_context",)}))
        == ()
    )


@pytest.mark.parametrize("category", ["builtin", "memory"])
def test_categories_have_our_words_and_those_of_the_documents(category: str) -> None:
    left = names(exclude_categories=(category,))
    assert "call_user" not in left
    assert "read_file" in left


@pytest.mark.parametrize("effect", [effect.value for effect in Effect])
def test_tools_are_excluded_by_what_they_do_to_the_world(effect: str) -> None:
    left = filter_tools(INVENTORY, make_settings(tools={"exclude_categories": (effect,)}))
    assert {spec.effect.value for spec in left} == {spec.effect.value for spec in ALL} - {effect}
    assert unknown_tool_names(INVENTORY, make_settings(tools={"exclude_categories": (effect,)})) == ()


def test_coding_is_what_the_documents_call_so() -> None:
    left = {
        name
        for spec in filter_tools(INVENTORY, make_settings(tools={"exclude_categories": ("coding",)}))
        for name in spec.names
    }
    assert left.isdisjoint({"shell_exec", "dir_list", "glob_files", "grep_files", "file_edit", "fetch_url"})
    assert "call_user" in left


def test_a_slip_of_the_pen_is_found() -> None:
    tools = {"include": ("read_fiel",), "exclude": ("read_file",), "exclude_categories": ("file", "codign", "mcp")}
    assert unknown_tool_names(INVENTORY, make_settings(tools=tools)) == ("read_fiel", "codign")


def test_the_fallback_says_that_it_is_called_by_itself(tmp_path: Path) -> None:
    scope = CallHarness(tmp_path, *TOOLS).scope(services={Handoff: RoundHandoff()})
    told = {offer.name: offer for offer in tool_offers(Inventory(TOOLS), scope, "call_user")}
    assert "automatically" in told["call_user"].description
    assert "automatically" not in told["call_agent"].description
    assert told["look"].description == look.description
    assert told["look"].schema["properties"]["path"]["default"] == "."
