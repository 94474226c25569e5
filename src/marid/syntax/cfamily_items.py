"""What a C or C++ file declares and defines, in source order: nodes are touched as little as can be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from marid.syntax.cfamily_mask import Group, without_attributes, without_exports, without_split_branches
from marid.syntax.cfamily_names import declared, tidy
from marid.syntax.code_trees import tree
from marid.syntax.nodes import word

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 60
_THROUGH = frozenset(
    (
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
        "preproc_elifdef",
        "declaration_list",
        "field_declaration_list",
        "labeled_statement",
        "export_declaration",
        "ERROR",
    )
)
_HEADS = frozenset(("template_declaration", "friend_declaration"))
TYPES = {
    "class_specifier": "Class",
    "struct_specifier": "Struct",
    "union_specifier": "Union",
    "enum_specifier": "Enum",
}
_NAMED = {
    "alias_declaration": "Type",
    "concept_definition": "Concept",
    "enumerator": "Constant",
    "namespace_alias_definition": "Namespace",
    "preproc_def": "Macro",
    "preproc_function_def": "Macro",
}
MEMBERED = frozenset(TYPES.values())


class Scope(NamedTuple):
    """Something that surrounds an item: a namespace, which names may omit, or a type."""

    name: str
    kind: str


class Item(NamedTuple):
    """One thing that a file declares or defines; the rest is read off its node when it is asked for."""

    kind: str
    """Namespace, Class, Struct, Union, Enum, Function, Method, Field, Constant, Variable, Type, Concept or Macro."""
    name: str
    """As it is written, tidied: `Hash<int>::find`; empty for what has none."""
    node: "Node"
    outer: "Node"
    """The node with its `template <…>`, `extern "C"` or `friend` around it."""
    body: "Node | None"
    scope: tuple[Scope, ...]
    also: tuple[str, ...] = ()
    """Other names of the same thing: the tag of a struct that a `typedef` names, or its variables."""
    function: "Node | None" = None
    """The declarator with the parameters."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A parsed file. `split` are the conditionals of which only the first branch was parsed."""

    data: bytes
    root: "Node"
    split: tuple[Group, ...]
    items: tuple[Item, ...]


def read(data: bytes, language: str) -> Source:
    """Parses a file and lists its items; `language` is "c" or "cpp".

    Raises:
        Exhausted: the file is too large to parse, or the parser cannot cope with it.
        Unavailable: the grammar's package is not installed.
    """
    seen, split = without_exports(data), tuple[Group, ...]()
    root = tree(seen, language)
    if root.has_error:
        masked, split = without_split_branches(without_attributes(seen))
        if masked != seen:
            seen, root = masked, tree(masked, language)
    return Source(data=data, root=root, split=split, items=items(seen, root))


def items(data: bytes, root: "Node") -> tuple[Item, ...]:
    """What stands below the root of a tree, each item before its members."""
    return tuple(_Walk(data).run(root))


@dataclass(kw_only=True)
class _Level:
    nodes: "Iterator[Node]"
    scope: tuple[Scope, ...]
    head: "Node | None" = None


@dataclass
class _Walk:
    """Goes through declarations with a stack of its own, never into function bodies or values."""

    data: bytes
    levels: list[_Level] = field(default_factory=list[_Level])

    def run(self, root: "Node") -> Iterator[Item]:
        self.levels = [_Level(nodes=iter(root.children), scope=())]
        while self.levels:
            level = self.levels[-1]
            for node in level.nodes:
                kind = node.type
                if kind in _THROUGH:
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
        """Members come next."""
        if body is not None and len(level.scope) < _DEEPEST:
            self.levels.append(_Level(nodes=iter(body.children), scope=(*level.scope, Scope(name, kind))))

    def function(self, level: _Level, node: "Node") -> Iterator[Item]:
        """A function with a body, or `= default`."""
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            return
        name, function = declared(declarator, self.data)
        if not name:
            return
        yield Item(
            kind=_callable(level, name),
            name=name,
            node=node,
            outer=level.head or node,
            body=node.child_by_field_name("body") or _tried(node),
            scope=level.scope,
            function=function,
        )

    def declaration(self, level: _Level, node: "Node") -> Iterator[Item]:
        """Functions, variables and fields; or the type that it spells out, which then counts."""
        of = node.child_by_field_name("type")
        if of is not None and of.type in TYPES and of.child_by_field_name("body") is not None:
            yield from self.typed(level, node, of)
            return
        inside = bool(level.scope) and level.scope[-1].kind in MEMBERED
        for declarator in node.children_by_field_name("declarator"):
            name, function = declared(declarator, self.data)
            if name:
                kind = _callable(level, name) if function is not None else "Field" if inside else "Variable"
                yield Item(
                    kind=kind,
                    name=name,
                    node=node,
                    outer=level.head or node,
                    body=None,
                    scope=level.scope,
                    function=function,
                )

    def typed(self, level: _Level, node: "Node", of: "Node") -> Iterator[Item]:
        """A class, struct, union or enum with its members; `node` may declare variables or names of it too."""
        body = of.child_by_field_name("body")
        if body is None:
            return
        tag = tidy(word(of, "name", self.data))
        names = [declared(each, self.data).name for each in node.children_by_field_name("declarator")]
        names = [each for each in names if each]
        first = (names[0] if names else tag) if node.type == "type_definition" or not tag else tag
        kind = TYPES[of.type]
        yield Item(
            kind=kind,
            name=first,
            node=node,
            outer=level.head or node,
            body=body,
            scope=level.scope,
            also=tuple(each for each in (tag, *names) if each and each != first),
        )
        self.enter(level, body, first, kind)

    def specifier(self, level: _Level, node: "Node") -> Iterator[Item]:
        """A type on its own."""
        return self.typed(level, node, node)

    def alias(self, level: _Level, node: "Node") -> Iterator[Item]:
        """A `typedef`."""
        of = node.child_by_field_name("type")
        if of is not None and of.type in TYPES and of.child_by_field_name("body") is not None:
            yield from self.typed(level, node, of)
            return
        for declarator in node.children_by_field_name("declarator"):
            if name := declared(declarator, self.data).name:
                yield self.plain(level, node, "Type", name)

    def named(self, level: _Level, node: "Node") -> Iterator[Item]:
        """What has its name in a field."""
        if name := tidy(word(node, "name", self.data)):
            yield self.plain(level, node, _NAMED[node.type], name)

    def plain(self, level: _Level, node: "Node", kind: str, name: str) -> Item:
        """Something without members."""
        return Item(kind=kind, name=name, node=node, outer=level.head or node, body=None, scope=level.scope)

    def namespace(self, level: _Level, node: "Node") -> Iterator[Item]:
        """Its members come next; one without a name only hides them from other files."""
        name, body = tidy(word(node, "name", self.data)), node.child_by_field_name("body")
        yield Item(kind="Namespace", name=name, node=node, outer=node, body=body, scope=level.scope)
        self.enter(level, body, name, "Namespace")

    def linkage(self, level: _Level, node: "Node") -> Iterator[Item]:
        """`extern "C"` before one declaration is its head; before a block it is looked through."""
        body = node.child_by_field_name("body")
        if body is not None and body.type == "declaration_list":
            self.levels.append(_Level(nodes=iter(body.children), scope=level.scope, head=level.head))
        elif body is not None:
            self.levels.append(_Level(nodes=iter((body,)), scope=level.scope, head=level.head or node))
        yield from ()


_READERS = {
    "function_definition": _Walk.function,
    "declaration": _Walk.declaration,
    "field_declaration": _Walk.declaration,
    "type_definition": _Walk.alias,
    "namespace_definition": _Walk.namespace,
    "linkage_specification": _Walk.linkage,
    **dict.fromkeys(TYPES, _Walk.specifier),
    **dict.fromkeys(_NAMED, _Walk.named),
}


def _callable(level: _Level, name: str) -> str:
    inside = bool(level.scope) and level.scope[-1].kind in MEMBERED
    friend = level.head is not None and level.head.type == "friend_declaration"
    return "Method" if (inside and not friend) or "::" in name else "Function"


def _tried(node: "Node") -> "Node | None":
    """The body of a function that is one `try`."""
    last = node.children[-1]
    return last if last.type == "try_statement" else None


def namespaces(items: Sequence[Item]) -> frozenset[str]:
    """The names of all namespaces, step by step."""
    return frozenset(step for item in items if item.kind == "Namespace" for step in item.name.split("::") if step)
