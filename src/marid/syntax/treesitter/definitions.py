"""The definitions of a file and where they are."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from marid.syntax.treesitter.grammars import parse
from marid.syntax.treesitter.language_tables import LANGUAGE_TABLES, LanguageTable, NodeRule, Role, Wrapper
from marid.syntax.treesitter.name_readers import KindAndName, to_dotted
from marid.syntax.treesitter.nodes import child_at, first_row, last_row, named_child_at, node_text
from marid.syntax.treesitter.signatures import (
    COMMENTS,
    DefinitionSite,
    comment_summary,
    docstring_summary,
    signature,
    split_decorators,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# Names grow with depth, so hostile nesting would take quadratic memory.
_MAX_DEPTH = 40
_CLASS_KINDS = frozenset(("class", "struct", "interface", "trait", "impl", "enum"))
CALLABLE_KINDS = frozenset(("function", "method"))
VALUE_KINDS = frozenset(("constant", "variable"))
# Node types that define something in grammars without a table: the noun, then a common ending.
_DEFINITION_TYPE = re.compile(
    r"(?:^|_)(function|method|class|struct|enum|interface|trait|module|namespace|protocol|object|type|constructor"
    r"|record|union|rule|message|service|table|macro|procedure|package|def)"
    r"(?:_def|_definition|_declaration|_declarator|_item|_spec|_statement|_signature|_alias|_binding)?$"
)
_KINDS = {"def": "function", "procedure": "function", "constructor": "method"}
_NAME_TYPE = re.compile(r"identifier|name|word|constant")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A definition; names are dotted in every language."""

    name: str
    """The path inside the file: `Shop.total`, `outer.inner`."""
    kind: str
    """class, function, method, struct, enum, interface, trait, impl, type, namespace, module, property, constant or
    variable."""
    start: int
    """First line, from 1, with decorators, attributes and template heads."""
    end: int
    """Last line, inclusive."""
    signature: str
    """On one line, up to the body, without decorators."""
    doc: str
    """First line of the docstring or of the comment right above, or an empty string."""
    depth: int
    """0 at top level."""
    decorators: str = ""
    """Decorators, annotations and attributes on one line."""


class LocatedDefinition(NamedTuple):
    """A definition and its nodes."""

    definition: Definition
    site: DefinitionSite


def definitions(data: bytes, language: str) -> tuple[Definition, ...]:
    """All definitions in source order; none for an unknown language or above 4 MB. Raises: Unavailable."""
    root = parse(data, language)
    return tuple(found for found, _ in _DefinitionWalker(data, LANGUAGE_TABLES[language]).run(root)) if root else ()


def locate_definitions(data: bytes, root: "Node", language: str, *, nested: bool = True) -> Iterator[LocatedDefinition]:
    """The definitions below a root in source order, for any grammar; those inside functions only if `nested`."""
    if language not in LANGUAGE_TABLES:
        return generic_definitions(data, root)
    table = LANGUAGE_TABLES[language]
    return _DefinitionWalker(data, table if nested else table._replace(nested=False)).run(root)


def visible_definitions(data: bytes, language: str) -> tuple[Definition, ...]:
    """Like `definitions`, without the insides of functions and, if there is anything else, free variables."""
    root = parse(data, language)
    if root is None:
        return ()
    flat = LANGUAGE_TABLES[language]._replace(nested=False)
    bound = tuple(found for found, _ in _DefinitionWalker(data, flat, free=False).run(root))
    return bound or tuple(found for found, _ in _DefinitionWalker(data, flat).run(root))


def find_definitions(definitions: Iterable[Definition], name: str) -> tuple[Definition, ...]:
    """The definitions of exactly this name, such as overloads, else those of the only name that ends in it."""
    wanted, known = to_dotted(name), tuple(definitions)
    if exact := tuple(each for each in known if each.name == wanted):
        return exact
    ending = tuple(each for each in known if each.name.endswith("." + wanted))
    return ending if len({each.name for each in ending}) == 1 else ()


@dataclass(kw_only=True)
class _Level:
    """An iterator over the children of a node, and what the next definition among them inherits."""

    nodes: "Iterator[Node]"
    scope: str = ""
    depth: int = 0
    owner: str = ""
    in_function: bool = False
    # The keyword of a group, missing in its members: `type ( … )` in Go.
    group_keyword: str = ""
    head: "Node | None" = None
    previous: "Node | None" = None
    comments: "list[Node]" = field(default_factory=list["Node"])
    decorators: "list[Node]" = field(default_factory=list["Node"])

    def add_comment(self, node: "Node") -> None:
        """Extend the run of comments above; a comment after code on its line belongs to that code."""
        row = first_row(node)
        above = last_row(self.previous) if self.previous else -2
        if above == row and not self.comments:
            return
        if above + 1 < row:
            self.comments.clear()
        self.comments.append(node)

    def clear_pending(self) -> None:
        self.head = None
        if self.comments or self.decorators:
            self.comments, self.decorators = [], []


@dataclass
class _DefinitionWalker:
    """Walks definitions and what may contain them, never expressions. The stack is explicit: code may nest deeply."""

    data: bytes
    table: LanguageTable
    free: bool = True
    levels: list[_Level] = field(default_factory=list[_Level])

    def run(self, root: "Node") -> Iterator[LocatedDefinition]:
        """The definitions below the root of a file."""
        roles, waiting = self.table.roles, self.table.decorator_types | COMMENTS
        self.levels = [_Level(nodes=iter(root.children))]
        while self.levels:
            level = self.levels[-1]
            for node in level.nodes:
                if (kind := node.type) in roles:
                    yield from self.visit(level, node, roles[kind])
                    break
                if kind in waiting or level.comments or level.decorators:
                    self.collect_pending(level, node)
                level.previous = node
            else:
                self.levels.pop()

    def collect_pending(self, level: _Level, node: "Node") -> None:
        """Keep comments and decorators for the definition that follows; any other statement clears them."""
        if node.type in COMMENTS:
            level.add_comment(node)
        elif level.head is None and node.is_named:
            if node.type in self.table.decorator_types:
                level.decorators.append(node)
            else:
                level.clear_pending()

    def visit(self, level: _Level, node: "Node", role: Role) -> Iterator[LocatedDefinition]:
        if isinstance(role, Wrapper):
            self.enter(level, role.inside(node), head=node if role.head else None)
        elif not (role.outside_functions and level.in_function):
            yield from self.define(level, node, role)
        level.clear_pending()
        level.previous = node

    def enter(self, level: _Level, node: "Node | None", *, head: "Node | None" = None) -> None:
        """Walk the children of a transparent node next."""
        if node is None:
            return
        inner = replace(level, nodes=iter(node.children), head=None, previous=None, comments=[], decorators=[])
        second = child_at(head, 1) if head is not None else None
        if head is not None and second is not None and second.type in ("(", "var_spec_list"):
            inner.group_keyword = node_text(child_at(head, 0), self.data) + " "
        elif head is not None:
            inner.head, inner.comments, inner.decorators = level.head or head, level.comments, level.decorators
        self.levels.append(inner)

    def define(self, level: _Level, node: "Node", rule: NodeRule) -> Iterator[LocatedDefinition]:
        """The definitions of a node; then walk its members."""
        body = rule.body(node)
        # In broken code the parser makes up names.
        found = tuple(named for named in rule.read(node, self.data) if named[1])
        if not found:
            self.enter(level, body, head=node if rule.head else None)
        # A variable counts in a class or with members, never in a function, else if `free`.
        elif found[0][0] not in VALUE_KINDS or (
            not level.in_function and (self.free or level.owner in _CLASS_KINDS or body is not None)
        ):
            site = self.locate(level, node, body)
            first = self.describe(level, site, rule, found[0])
            yield LocatedDefinition(first, site)
            for kind, name in found[1:]:
                yield LocatedDefinition(replace(first, kind=kind, name=level.scope + name), site)
            self.descend(level, body, found[0])

    def descend(self, level: _Level, body: "Node | None", parent: tuple[str, str]) -> None:
        """Walk the members in a body next, if the language allows any there."""
        kind, name = parent
        is_callable = kind in CALLABLE_KINDS
        if body is not None and level.depth < _MAX_DEPTH and (self.table.nested or not is_callable):
            inner = _Level(nodes=iter(body.children), scope=f"{level.scope}{name}.", depth=level.depth + 1, owner=kind)
            inner.in_function = level.in_function or is_callable
            self.levels.append(inner)
        elif body is None and kind == "namespace":  # `namespace a;` applies up to the next one
            level.scope = name + "."

    def locate(self, level: _Level, node: "Node", body: "Node | None") -> DefinitionSite:
        """Separate the decorators, which grammars put before the definition, in a head, or in the definition."""
        outer = level.head or node
        marks, own = split_decorators(outer, self.table.decorator_types)
        if own == node:
            inner, own = split_decorators(node, self.table.decorator_types)
            marks += inner
        marks = (*level.decorators, *marks)
        return DefinitionSite(data=self.data, node=node, outer=outer, body=body, decorators=marks, start=own.start_byte)

    def describe(self, level: _Level, site: DefinitionSite, rule: NodeRule, named: KindAndName) -> Definition:
        node, outer = site.node, site.outer
        kind = _resolve_kind(*named, level.owner)
        first = site.decorators[0] if site.decorators else outer
        begin = first_row(first if first.start_byte < outer.start_byte else outer)
        return Definition(
            name=named[1] if kind == "namespace" and site.body is None else level.scope + named[1],
            kind=kind,
            start=begin + 1,
            end=last_row(node) + 1,
            signature=level.group_keyword + signature(site, rule, kind),
            doc=self.find_doc(level, site, begin),
            depth=level.depth,
            decorators=" ".join(" ".join(node_text(mark, self.data).split()) for mark in site.decorators),
        )

    def find_doc(self, level: _Level, site: DefinitionSite, begin: int) -> str:
        """The docstring, or the comment directly above the definition or its decorators."""
        if self.table.docstrings:
            return docstring_summary(site.body, self.data)
        if not level.comments:
            return ""
        row = last_row(level.comments[-1])
        rows = (begin, begin - 1, first_row(site.node) - 1)
        return comment_summary(level.comments, self.data) if row in rows else ""


def _resolve_kind(kind: str, name: str, owner: str) -> str:
    if kind == "function" and owner in _CLASS_KINDS:
        return "method"
    return "function" if kind == "method" and not owner and "." not in name else kind


def generic_definitions(data: bytes, root: "Node") -> Iterator[LocatedDefinition]:
    """Every node with a name whose type sounds like a definition, for languages without a table."""
    cursor = root.walk()
    scopes: list[tuple[int, str]] = []
    while (node := cursor.node) is not None:
        while scopes and node.start_byte >= scopes[-1][0]:
            scopes.pop()
        if node.is_named and (kind := _DEFINITION_TYPE.search(node.type)) and (name := _generic_name(node, data)):
            found = Definition(
                name=".".join((*(scope for _, scope in scopes), name)),
                kind=_KINDS.get(kind[1], kind[1]),
                start=first_row(node) + 1,
                end=last_row(node) + 1,
                signature="",
                doc="",
                depth=len(scopes),
            )
            yield LocatedDefinition(found, DefinitionSite(data, node, node, None, (), node.start_byte))
            scopes.append((node.end_byte, name))
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _generic_name(node: "Node", data: bytes) -> str:
    """The field `name`, else the first child that looks like a name."""
    found = node.child_by_field_name("name")
    if found is None:
        near = (named_child_at(node, index) for index in range(3))
        found = next((child for child in near if child is not None and _NAME_TYPE.search(child.type)), None)
    name = node_text(found, data)
    return name if name and len(name) < 200 and "\n" not in name else ""
