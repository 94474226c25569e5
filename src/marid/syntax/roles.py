"""What a node type means to us: it defines something, or it is looked through."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from marid.syntax.names import Reader

if TYPE_CHECKING:
    from tree_sitter import Node

Part: TypeAlias = "Callable[[Node], Node | None]"


def at(*path: str) -> Part:
    """The node that a path of fields leads to."""

    def follow(node: "Node") -> "Node | None":
        found: Node | None = node
        for field in path:
            found = found.child_by_field_name(field) if found else None
        return found

    return follow


def first(*parts: Part) -> Part:
    """The first part that is there."""
    return lambda node: next((found for part in parts if (found := part(node))), None)


BODY = at("body")
ITSELF = at()
NOWHERE = first()


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A node that defines names. Its signature ends before `body`, or after `last` where there is one."""

    read: Reader
    body: Part = BODY
    last: Part = NOWHERE
    # The body begins with a word that belongs to the signature: `struct {` in Go.
    worded: bool = False
    # Looked for in files and classes only, not in the bodies of functions.
    outer: bool = False
    # Where it names nothing itself, it belongs to the definition inside, like a head.
    head: bool = False


@dataclass(frozen=True, kw_only=True)
class Wrapper:
    """A node that is looked through; a `head` belongs to the definition inside, like `export` or `template <…>`."""

    inside: Part = ITSELF
    head: bool = False


Role: TypeAlias = "Rule | Wrapper"


@dataclass(frozen=True, kw_only=True)
class Table:
    """One language. `marks` are decorators and attributes; `nested` says whether functions may hold definitions."""

    roles: Mapping[str, Role]
    marks: frozenset[str] = frozenset()
    nested: bool = True
    comment: str = "//"
    docstrings: bool = False
