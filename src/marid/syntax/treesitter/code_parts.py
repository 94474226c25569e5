"""The definitions of a file in any language but C and C++, with the bytes that they and their bodies take."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.definitions import locate_definitions
from marid.syntax.treesitter.nodes import first_row, last_row, named_child_at, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

# Types of nodes that define something in grammars without a table: the noun, then a common ending.
_DEFINITION_TYPE = re.compile(
    r"(?:^|_)(function|method|class|struct|enum|interface|trait|module|namespace|protocol|object|type|constructor"
    r"|record|union|rule|message|service|table|macro|procedure|package|def)"
    r"(?:_def|_definition|_declaration|_declarator|_item|_spec|_statement|_signature|_alias|_binding)?$"
)
_KINDS = {"def": "function", "procedure": "function", "constructor": "method"}
_NAME = re.compile(r"identifier|name|word|constant")


@dataclass(frozen=True, kw_only=True)
class CodePart:
    """A definition: `name` is dotted; `start` and `end` are bytes, with decorators and what ends the statement."""

    name: str
    kind: str
    depth: int
    first_line: int
    last_line: int
    start_byte: int
    end_byte: int
    signature: str = ""
    body: "Node | None" = None
    node: "Node | None" = None


def code_parts(data: bytes, root: "Node", language: str, *, nested: bool = True) -> Iterator[CodePart]:
    """Definitions in source order; those inside functions only if `nested`."""
    if language not in LANGUAGES:
        yield from generic_parts(data, root)
        return
    for found, site in locate_definitions(data, root, language, nested=nested):
        yield CodePart(
            name=found.name,
            kind=found.kind,
            depth=found.depth,
            first_line=found.start,
            last_line=found.end,
            start_byte=min((mark.start_byte for mark in site.decorators), default=site.outer.start_byte),
            end_byte=max(site.node.end_byte, site.outer.end_byte),
            signature=found.signature,
            body=site.body,
            node=site.node,
        )


def generic_parts(data: bytes, root: "Node") -> Iterator[CodePart]:
    """Every node with a name whose type sounds like a definition, for languages without a table."""
    cursor = root.walk()
    scopes: list[tuple[int, str]] = []
    while True:
        node = cursor.node
        if node is None:
            return
        while scopes and node.start_byte >= scopes[-1][0]:
            scopes.pop()
        if node.is_named and (kind := _DEFINITION_TYPE.search(node.type)) and (name := _definition_name(node, data)):
            yield _generic_part(node, _KINDS.get(kind[1], kind[1]), name, [each for _, each in scopes])
            scopes.append((node.end_byte, name))
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _generic_part(node: "Node", kind: str, name: str, scopes: list[str]) -> CodePart:
    return CodePart(
        name=".".join((*scopes, name)),
        kind=kind,
        depth=len(scopes),
        first_line=first_row(node) + 1,
        last_line=last_row(node) + 1,
        start_byte=node.start_byte,
        end_byte=node.end_byte,
        node=node,
    )


def _definition_name(node: "Node", data: bytes) -> str:
    """The field `name`, else the first child that looks like a name."""
    found = node.child_by_field_name("name")
    if found is None:
        near = (named_child_at(node, index) for index in range(3))
        found = next((child for child in near if child is not None and _NAME.search(child.type)), None)
    name = node_text(found, data)
    return name if name and len(name) < 200 and "\n" not in name else ""
