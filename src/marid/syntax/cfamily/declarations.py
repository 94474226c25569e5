"""The declarations and definitions of a C or C++ file, in source order. Node access is slow, so there is little."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from marid.syntax.cfamily.macro_mask import (
    ConditionalGroup,
    without_attributes,
    without_exports,
    without_split_branches,
)
from marid.syntax.cfamily.qualified_names import parse_declarator, tidy
from marid.syntax.treesitter.grammars import parse_tree
from marid.syntax.treesitter.nodes import field_text

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 60
_BRANCHES = frozenset(f"preproc_{word}" for word in ("if", "ifdef", "else", "elif", "elifdef"))
_LISTS = frozenset(("declaration_list", "field_declaration_list", "labeled_statement", "export_declaration", "ERROR"))
_TRANSPARENT = _BRANCHES | _LISTS
_HEADS = frozenset(("template_declaration", "friend_declaration"))
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


class EnclosingScope(NamedTuple):
    """A namespace, which names may omit, or a type around a declaration."""

    name: str
    kind: str


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
    scope: tuple[EnclosingScope, ...]
    other_names: tuple[str, ...] = ()
    """The tag of a struct that a `typedef` names, or its variables."""
    function: "Node | None" = None
    """The declarator with the parameters."""


@dataclass(frozen=True, kw_only=True)
class CSource:
    """A parsed file. Only the first branch of each of `split_conditionals` was parsed."""

    data: bytes
    root: "Node"
    split_conditionals: tuple[ConditionalGroup, ...]
    declarations: tuple[CDeclaration, ...]


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


@dataclass(kw_only=True)
class _Level:
    nodes: "Iterator[Node]"
    scope: tuple[EnclosingScope, ...]
    head: "Node | None" = None


@dataclass
class _DeclarationWalker:
    """Walks declarations with an explicit stack, never into function bodies or values."""

    data: bytes
    levels: list[_Level] = field(default_factory=list[_Level])

    def run(self, root: "Node") -> Iterator[CDeclaration]:
        self.levels = [_Level(nodes=iter(root.children), scope=())]
        while self.levels:
            level = self.levels[-1]
            for node in level.nodes:
                kind = node.type
                if kind in _TRANSPARENT:
                    self.levels.append(_Level(nodes=iter(node.children), scope=level.scope, head=level.head))
                    break
                if kind in _HEADS:
                    head = level.head or node
                    self.levels.append(_Level(nodes=iter(node.children), scope=level.scope, head=head))
                    break
                if kind in _READERS:
                    depth = len(self.levels)
                    yield from _READERS[kind](self, level, node)
                    if len(self.levels) > depth:
                        break
            else:
                self.levels.pop()

    def enter(self, level: _Level, body: "Node | None", name: str, kind: str) -> None:
        if body is not None and len(level.scope) < _MAX_DEPTH:
            self.levels.append(_Level(nodes=iter(body.children), scope=(*level.scope, EnclosingScope(name, kind))))

    def read_function(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            return
        name, function = parse_declarator(declarator, self.data)
        if name:
            body = node.child_by_field_name("body") or _try_body(node)
            yield _make_declaration(level, node, _callable_kind(level, name), name, body=body, function=function)

    def read_declaration(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        """Functions, variables and fields; or, instead, the type that the declaration defines."""
        if (of := _spelled_type(node)) is not None:
            yield from self.read_type(level, node, of)
            return
        inside = bool(level.scope) and level.scope[-1].kind in TYPE_KINDS
        for declarator in node.children_by_field_name("declarator"):
            name, function = parse_declarator(declarator, self.data)
            if name:
                kind = _callable_kind(level, name) if function is not None else "Field" if inside else "Variable"
                yield _make_declaration(level, node, kind, name, function=function)

    def read_type(self, level: _Level, node: "Node", of: "Node") -> Iterator[CDeclaration]:
        """A class, struct, union or enum with its members; `node` may also declare variables or typedefs of it."""
        body = of.child_by_field_name("body")
        if body is None:
            return
        tag = tidy(field_text(of, "name", self.data))
        names = [parse_declarator(each, self.data).name for each in node.children_by_field_name("declarator")]
        names = [each for each in names if each]
        first = (names[0] if names else tag) if node.type == "type_definition" or not tag else tag
        kind = _TYPES[of.type]
        others = tuple(each for each in (tag, *names) if each and each != first)
        yield _make_declaration(level, node, kind, first, body=body, other_names=others)
        self.enter(level, body, first, kind)

    def read_specifier(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        return self.read_type(level, node, node)

    def read_typedef(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        if (of := _spelled_type(node)) is not None:
            yield from self.read_type(level, node, of)
            return
        for declarator in node.children_by_field_name("declarator"):
            if name := parse_declarator(declarator, self.data).name:
                yield _make_declaration(level, node, "Type", name)

    def read_named(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        if name := tidy(field_text(node, "name", self.data)):
            yield _make_declaration(level, node, _NAMED_KINDS[node.type], name)

    def read_namespace(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        name, body = tidy(field_text(node, "name", self.data)), node.child_by_field_name("body")
        yield CDeclaration(kind="Namespace", name=name, node=node, outer=node, body=body, scope=level.scope)
        self.enter(level, body, name, "Namespace")

    def read_linkage(self, level: _Level, node: "Node") -> Iterator[CDeclaration]:
        """`extern "C"` before one declaration is its head; a block of it is transparent."""
        body = node.child_by_field_name("body")
        if body is not None and body.type == "declaration_list":
            self.levels.append(_Level(nodes=iter(body.children), scope=level.scope, head=level.head))
        elif body is not None:
            self.levels.append(_Level(nodes=iter((body,)), scope=level.scope, head=level.head or node))
        yield from ()


_READERS = {
    "function_definition": _DeclarationWalker.read_function,
    "declaration": _DeclarationWalker.read_declaration,
    "field_declaration": _DeclarationWalker.read_declaration,
    "type_definition": _DeclarationWalker.read_typedef,
    "namespace_definition": _DeclarationWalker.read_namespace,
    "linkage_specification": _DeclarationWalker.read_linkage,
    **dict.fromkeys(_TYPES, _DeclarationWalker.read_specifier),
    **dict.fromkeys(_NAMED_KINDS, _DeclarationWalker.read_named),
}


def _make_declaration(  # noqa: PLR0913 - the fields of a declaration
    level: _Level,
    node: "Node",
    kind: str,
    name: str,
    *,
    body: "Node | None" = None,
    other_names: tuple[str, ...] = (),
    function: "Node | None" = None,
) -> CDeclaration:
    return CDeclaration(kind, name, node, level.head or node, body, level.scope, other_names, function)


def _spelled_type(node: "Node") -> "Node | None":
    """The type that a declaration defines with its members."""
    of = node.child_by_field_name("type")
    return of if of is not None and of.type in _TYPES and of.child_by_field_name("body") is not None else None


def _callable_kind(level: _Level, name: str) -> str:
    inside = bool(level.scope) and level.scope[-1].kind in TYPE_KINDS
    friend = level.head is not None and level.head.type == "friend_declaration"
    return "Method" if (inside and not friend) or "::" in name else "Function"


def _try_body(node: "Node") -> "Node | None":
    """The body of a function-try-block."""
    last = node.children[-1]
    return last if last.type == "try_statement" else None


def namespace_names(items: Sequence[CDeclaration]) -> frozenset[str]:
    """The names of all namespaces; `a::b` counts as two."""
    return frozenset(step for item in items if item.kind == "Namespace" for step in item.name.split("::") if step)
