"""The declarations and definitions of a C or C++ file, in source order. Node access is slow, so there is little."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from marid.syntax.cfamily.macro_mask import (
    ConditionalGroup,
    without_attributes,
    without_exports,
    without_split_branches,
)
from marid.syntax.cfamily.qualified_names import parse_declarator, tidy
from marid.syntax.treesitter.grammars import parse_tree
from marid.syntax.treesitter.nodes import body_start, field_text, first_row, last_row

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 60
_BRANCHES = frozenset(f"preproc_{word}" for word in ("if", "ifdef", "else", "elif", "elifdef"))
_LISTS = frozenset(("declaration_list", "field_declaration_list", "labeled_statement", "export_declaration", "ERROR"))
_HEADS = frozenset(("template_declaration", "friend_declaration"))
_TRANSPARENT = _BRANCHES | _LISTS | _HEADS
_TYPES = {f"{kind.lower()}_specifier": kind for kind in ("Class", "Struct", "Union", "Enum")}
_NAMED_KINDS = {
    "alias_declaration": "Type",
    "concept_definition": "Concept",
    "enumerator": "Constant",
    "namespace_alias_definition": "Namespace",
    "preproc_def": "Macro",
    "preproc_function_def": "Macro",
}
TYPE_KINDS = frozenset(_TYPES.values())
_BLANK_OR_COMMENT = re.compile(rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)


class CDeclaration(NamedTuple):
    """A declaration or definition."""

    kind: str
    """Namespace, Class, Struct, Union, Enum, Function, Method, Field, Constant, Variable, Type, Concept or Macro."""
    name: str
    """As written, without needless space: `Hash<int>::find`; empty if it has none."""
    node: "Node"
    outer: "Node"
    """The node, or the `template <…>`, `extern "C"` or `friend` around it."""
    body: "Node | None"
    scope: "tuple[CDeclaration, ...]"
    """The namespaces, which names may omit, and types around it."""
    other_names: tuple[str, ...] = ()
    """The tag of a struct that a `typedef` names, or its variables."""
    function: "Node | None" = None
    """The declarator with the parameters."""

    @property
    def qualified_name(self) -> str:
        """The name with its namespaces and types."""
        return "::".join(each.name for each in (*self.scope, self) if each.name)


class DeclarationSpan(NamedTuple):
    """Bytes of a file; `semicolon` is the position of the final `;`, or `end` without one."""

    start: int
    end: int
    semicolon: int


@dataclass(frozen=True, kw_only=True)
class CSource:
    """A parsed file. Only the first branch of each of `split_conditionals` was parsed."""

    data: bytes
    root: "Node"
    split_conditionals: tuple[ConditionalGroup, ...]
    declarations: tuple[CDeclaration, ...]

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The names of all namespaces; `a::b` counts as two."""
        names = (item.name for item in self.declarations if item.kind == "Namespace")
        return frozenset(step for name in names for step in name.split("::") if step)

    def span(self, item: CDeclaration) -> DeclarationSpan:
        """The whole declaration, with its head, its `;`, and the conditionals that it starts or ends in."""
        start, end = item.outer.start_byte, item.outer.end_byte
        semicolon = end
        if item.node.type.startswith("preproc_"):
            end = semicolon = start + len(self.data[start:end].rstrip())
        elif self.data[end - 1 : end] == b";":
            semicolon = end - 1
        elif (after := item.outer.next_sibling) is not None and self.data[after.start_byte : after.end_byte] == b";":
            semicolon, end = after.start_byte, after.end_byte
        for group in self.split_conditionals:
            opened = group.start < start < group.end <= end
            if opened and _BLANK_OR_COMMENT.fullmatch(self.data, group.directives[0][1], start):
                start = group.start
            elif start <= group.start < end <= group.end:
                end = semicolon = group.end
        return DeclarationSpan(start, end, semicolon)

    def line_range(self, item: CDeclaration) -> tuple[int, int]:
        """First and last line, from 1."""
        start, end, _ = self.span(item) if self.split_conditionals else (0, 0, 0)
        if end and (start < item.outer.start_byte or end > item.outer.end_byte):
            return self.data.count(b"\n", 0, start) + 1, self.data.count(b"\n", 0, end) + 1
        return first_row(item.outer) + 1, last_row(item.outer) + 1

    def signature_end(self, item: CDeclaration) -> int:
        """Where the signature ends: before the body, the value or the `;`."""
        if item.body is not None:
            end, blank = body_start(item.node, item.body), b" \t\r\n"
        elif item.kind == "Macro":
            value = item.node.child_by_field_name("value")
            end, blank = value.start_byte if value else item.node.end_byte, b" \t\r\n\\"
        else:
            value = multiline_value(item.node)
            end, blank = value.start_byte if value else self.span(item).semicolon, b" \t\r\n;="
        start = item.outer.start_byte
        return start + len(self.data[start:end].rstrip(blank))

    def signature(self, item: CDeclaration) -> str:
        """The signature as written, with only the first branch of a conditional inside it."""
        start, end = item.outer.start_byte, self.signature_end(item)
        kept = bytearray(self.data[start:end])
        for group in reversed(self.split_conditionals):
            cut = group.directives[1][0]
            if start < cut < end:
                del kept[cut - start : group.end - start]
        return kept.rstrip().decode("utf-8", "replace")


def multiline_value(node: "Node") -> "Node | None":
    """The value of a variable, if it is on several lines."""
    declarator = node.child_by_field_name("declarator")
    value = (declarator or node).child_by_field_name("value") or node.child_by_field_name("default_value")
    return value if value is not None and last_row(value) > first_row(value) else None


def parse_source(data: bytes, language: str) -> CSource:
    """Parse a file and list its declarations; `language` is "c" or "cpp". Raises as `parse_tree`."""
    seen, split = without_exports(data), tuple[ConditionalGroup, ...]()
    root = parse_tree(seen, language)
    if root.has_error:
        masked, split = without_split_branches(without_attributes(seen))
        if masked != seen:
            seen, root = masked, parse_tree(masked, language)
    return CSource(data=data, root=root, split_conditionals=split, declarations=list_declarations(seen, root))


def list_declarations(data: bytes, root: "Node") -> tuple[CDeclaration, ...]:
    """The declarations of a tree, each before its members."""
    return tuple(_DeclarationWalker(data).run(root))


class _Level(NamedTuple):
    nodes: "Iterator[Node]"
    scope: tuple[CDeclaration, ...] = ()
    head: "Node | None" = None

    def declare(self, kind: str, name: str, node: "Node", body: "Node | None" = None) -> CDeclaration:
        return CDeclaration(kind, name, node, self.head or node, body, self.scope)

    def is_in_type(self) -> bool:
        return bool(self.scope) and self.scope[-1].kind in TYPE_KINDS

    def callable_kind(self, name: str) -> str:
        friend = self.head is not None and self.head.type == "friend_declaration"
        return "Method" if (self.is_in_type() and not friend) or "::" in name else "Function"


@dataclass
class _DeclarationWalker:
    """Walks declarations with an explicit stack, never into function bodies or values."""

    data: bytes
    levels: list[_Level] = field(default_factory=list[_Level])

    def run(self, root: "Node") -> Iterator[CDeclaration]:
        self.levels = [_Level(iter(root.children))]
        while self.levels:
            level = self.levels[-1]
            for node in level.nodes:
                kind = node.type
                if kind in _TRANSPARENT:
                    head = level.head or (node if kind in _HEADS else None)
                    self.levels.append(_Level(iter(node.children), level.scope, head))
                    break
                if kind in _READERS:
                    depth = len(self.levels)
                    yield from _READERS[kind](self, level, node)
                    if len(self.levels) > depth:
                        break
            else:
                self.levels.pop()

    def enter(self, level: _Level, item: CDeclaration) -> Iterator[CDeclaration]:
        """Yield a namespace or type, then walk its members next."""
        yield item
        if item.body is not None and len(level.scope) < _MAX_DEPTH:
            self.levels.append(_Level(iter(item.body.children), (*level.scope, item)))

    def read_function(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        declarator = node.child_by_field_name("declarator")
        name, function = parse_declarator(declarator, self.data) if declarator else ("", None)
        if name:
            last = node.children[-1]
            body = node.child_by_field_name("body") or (last if last.type == "try_statement" else None)
            yield level.declare(level.callable_kind(name), name, node, body)._replace(function=function)

    def read_declaration(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        """Functions, variables, fields and typedefs; or, instead, the type that the declaration defines."""
        of = node.child_by_field_name("type")
        if of is not None and of.type in _TYPES and of.child_by_field_name("body") is not None:
            yield from self.read_type(level, node, of)
            return
        for declarator in node.children_by_field_name("declarator"):
            name, function = parse_declarator(declarator, self.data)
            if name and node.type == "type_definition":
                yield level.declare("Type", name, node)
            elif name and function is not None:
                yield level.declare(level.callable_kind(name), name, node)._replace(function=function)
            elif name:
                yield level.declare("Field" if level.is_in_type() else "Variable", name, node)

    def read_type(self, level: _Level, node: "Node", of: "Node | None" = None) -> Iterator[CDeclaration]:
        """A class, struct, union or enum with its members; `node` may also declare variables or typedefs of it."""
        of = of or node
        body = of.child_by_field_name("body")
        if body is None:
            return
        tag = tidy(field_text(of, "name", self.data))
        declared = (parse_declarator(each, self.data)[0] for each in node.children_by_field_name("declarator"))
        names = [name for name in declared if name]
        first = (names[0] if names else tag) if node.type == "type_definition" or not tag else tag
        others = tuple(each for each in (tag, *names) if each and each != first)
        yield from self.enter(level, level.declare(_TYPES[of.type], first, node, body)._replace(other_names=others))

    def read_named(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        if name := tidy(field_text(node, "name", self.data)):
            yield level.declare(_NAMED_KINDS[node.type], name, node)

    def read_namespace(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        name = tidy(field_text(node, "name", self.data))
        item = level.declare("Namespace", name, node, node.child_by_field_name("body"))
        return self.enter(level, item._replace(outer=node))

    def read_linkage(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        """`extern "C"` before one declaration is its head; a block of it is transparent."""
        if body := node.child_by_field_name("body"):
            head = level.head if body.type == "declaration_list" else level.head or node
            self.levels.append(_Level(iter((body,)), level.scope, head))
        return iter(())


_READERS = {
    "function_definition": _DeclarationWalker.read_function,
    "declaration": _DeclarationWalker.read_declaration,
    "field_declaration": _DeclarationWalker.read_declaration,
    "type_definition": _DeclarationWalker.read_declaration,
    "namespace_definition": _DeclarationWalker.read_namespace,
    "linkage_specification": _DeclarationWalker.read_linkage,
    **dict.fromkeys(_TYPES, _DeclarationWalker.read_type),
    **dict.fromkeys(_NAMED_KINDS, _DeclarationWalker.read_named),
}
