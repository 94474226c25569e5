"""The selectors that tables are made of."""

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


def test_a_path_of_fields_selects_a_node() -> None:
    node = declarator()
    assert node_text(at_field("value", "body")(node), CODE) == "{ g(); }"
    assert ITSELF(node) == node
    assert at_field("nothing", "body")(node) is BODY(node) is NO_NODE(node) is None


def test_the_first_part_that_the_node_has_is_selected() -> None:
    assert node_text(first_of(at_field("body"), at_field("name"), at_field("value"))(declarator()), CODE) == "f"
