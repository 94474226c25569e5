"""The role of a node type: it defines something, or the walker looks through it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from marid.syntax.treesitter.name_readers import NameReader

if TYPE_CHECKING:
    from tree_sitter import Node

NodeSelector: TypeAlias = "Callable[[Node], Node | None]"


def at_field(*path: str) -> NodeSelector:
    """Select the node at a path of fields."""

    def follow(node: "Node") -> "Node | None":
        found: Node | None = node
        for field in path:
            found = found.child_by_field_name(field) if found else None
        return found

    return follow


def first_of(*parts: NodeSelector) -> NodeSelector:
    """Select the first of several parts that the node has."""
    return lambda node: next((found for part in parts if (found := part(node))), None)


BODY = at_field("body")
ITSELF = at_field()
NO_NODE = first_of()


class NodeRule(NamedTuple):
    """A node that defines names. Its signature ends before `body`, or after `last` if the node has that."""

    read: NameReader
    body: NodeSelector = BODY
    last: NodeSelector = NO_NODE
    # The body begins with a word that belongs to the signature: `struct {` in Go.
    keyword_in_body: bool = False
    # Ignored inside the bodies of functions.
    outside_functions: bool = False
    # If the node itself names nothing, it is the head of the definition inside it.
    head: bool = False


class Wrapper(NamedTuple):
    """A node to look through; a `head`, such as `export` or `template <…>`, belongs to the definition inside it."""

    inside: NodeSelector = ITSELF
    head: bool = False


Role: TypeAlias = "NodeRule | Wrapper"


class LanguageTable(NamedTuple):
    """The roles of a language's node types; `nested` if functions can contain definitions."""

    roles: Mapping[str, Role]
    decorator_types: frozenset[str]
    nested: bool = True
    comment: str = "//"
    docstrings: bool = False
