"""The small words of which the tables are made."""

from tree_sitter import Node

from marid.syntax.treesitter.grammars import parse
from marid.syntax.treesitter.nodes import node_text
from marid.syntax.treesitter.roles import BODY, ITSELF, NO_NODE, at_field, first_of

CODE = b"const f = () => { g(); };\n"


def declarator() -> Node:
    root = parse(CODE, "javascript")
    assert root is not None
    found = root.children[0].named_children[0]
    assert found.type == "variable_declarator"
    return found


def test_a_path_of_fields_leads_to_a_node() -> None:
    assert node_text(at_field("value", "body")(declarator()), CODE) == "{ g(); }"


def test_a_path_that_ends_early_leads_nowhere() -> None:
    assert at_field("nothing", "body")(declarator()) is None
    assert BODY(declarator()) is None
    assert NO_NODE(declarator()) is None


def test_an_empty_path_stays() -> None:
    node = declarator()
    assert ITSELF(node) == node


def test_the_first_part_that_is_there_is_taken() -> None:
    assert node_text(first_of(at_field("body"), at_field("name"), at_field("value"))(declarator()), CODE) == "f"
