"""What a node type means to us: it defines something, or it is looked through."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from marid.syntax.treesitter.name_readers import NameReader

if TYPE_CHECKING:
    from tree_sitter import Node

NodeSelector: TypeAlias = "Callable[[Node], Node | None]"


def at_field(*path: str) -> NodeSelector:
    """The node that a path of fields leads to."""

    def follow(node: "Node") -> "Node | None":
        found: Node | None = node
        for field in path:
            found = found.child_by_field_name(field) if found else None
        return found

    return follow


def first_of(*parts: NodeSelector) -> NodeSelector:
    """The first part that is there."""
    return lambda node: next((found for part in parts if (found := part(node))), None)


BODY = at_field("body")
ITSELF = at_field()
NO_NODE = first_of()


@dataclass(frozen=True, kw_only=True)
class NodeRule:
    """A node that defines names. Its signature ends before `body`, or after `last` where there is one."""

    read: NameReader
    body: NodeSelector = BODY
    last: NodeSelector = NO_NODE
    # The body begins with a word that belongs to the signature: `struct {` in Go.
    keyword_in_body: bool = False
    # Looked for in files and classes only, not in the bodies of functions.
    outside_functions: bool = False
    # Where it names nothing itself, it belongs to the definition inside, like a head.
    head: bool = False


@dataclass(frozen=True, kw_only=True)
class Wrapper:
    """A node that is looked through; a `head` belongs to the definition inside, like `export` or `template <…>`."""

    inside: NodeSelector = ITSELF
    head: bool = False


Role: TypeAlias = "NodeRule | Wrapper"


@dataclass(frozen=True, kw_only=True)
class LanguageTable:
    """One language. `marks` are decorators and attributes; `nested` says whether functions may hold definitions."""

    roles: Mapping[str, Role]
    decorator_types: frozenset[str] = frozenset()
    nested: bool = True
    comment: str = "//"
    docstrings: bool = False
