"""The small words of which the tables are made."""

from tree_sitter import Node

from marid.syntax.grammars import parse
from marid.syntax.nodes import text
from marid.syntax.roles import BODY, ITSELF, NOWHERE, at, first

CODE = b"const f = () => { g(); };\n"


def declarator() -> Node:
    root = parse(CODE, "javascript")
    assert root is not None
    found = root.children[0].named_children[0]
    assert found.type == "variable_declarator"
    return found


def test_a_path_of_fields_leads_to_a_node() -> None:
    assert text(at("value", "body")(declarator()), CODE) == "{ g(); }"


def test_a_path_that_ends_early_leads_nowhere() -> None:
    assert at("nothing", "body")(declarator()) is None
    assert BODY(declarator()) is None
    assert NOWHERE(declarator()) is None


def test_an_empty_path_stays() -> None:
    node = declarator()
    assert ITSELF(node) == node


def test_the_first_part_that_is_there_is_taken() -> None:
    assert text(first(at("body"), at("name"), at("value"))(declarator()), CODE) == "f"
