"""What a file defines, and where."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from marid.syntax import docs
from marid.syntax.grammars import parse
from marid.syntax.names import Named, dotted
from marid.syntax.nodes import first_row, last_row, nth, text
from marid.syntax.roles import Role, Rule, Table, Wrapper
from marid.syntax.signatures import COMMENTS, Site, first_own, signature
from marid.syntax.tables import table

if TYPE_CHECKING:
    from tree_sitter import Node

# Names grow with depth, so hostile nesting would cost memory by its square.
_DEEPEST = 40
_CLASSES = frozenset(("class", "struct", "interface", "trait", "impl", "enum"))
_CALLED = frozenset(("function", "method"))
_VALUES = frozenset(("constant", "variable"))


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One thing that a file defines; names are dotted whatever the language writes."""

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


Sited: TypeAlias = tuple[Definition, Site]


def definitions(data: bytes, language: str) -> tuple[Definition, ...]:
    """All definitions in source order, each before those inside it; none for an unknown language or above 4 MB.

    Raises:
        Unavailable: the grammar's package is not installed.
    """
    root = parse(data, language)
    return tuple(each for each, _ in _Walk(data, table(language)).run(root)) if root else ()


def sited(data: bytes, root: "Node", language: str, *, nested: bool = True) -> Iterator[Sited]:
    """The definitions below the root of a tree, each with its nodes; those inside functions only if `nested`."""
    known = table(language)
    return _Walk(data, known if nested else replace(known, nested=False)).run(root)


def visible(data: bytes, language: str) -> tuple[Definition, ...]:
    """Like `definitions`, without what is inside functions and, unless there is nothing else, free variables.

    Raises:
        Unavailable: the grammar's package is not installed.
    """
    root = parse(data, language)
    if root is None:
        return ()
    flat = replace(table(language), nested=False)
    bound = tuple(each for each, _ in _Walk(data, flat, free=False).run(root))
    return bound or tuple(each for each, _ in _Walk(data, flat).run(root))


def find(definitions: Iterable[Definition], name: str) -> tuple[Definition, ...]:
    """Those of exactly this name (overloads are several), else those whose name ends in it if that is one name only."""
    wanted, known = dotted(name), tuple(definitions)
    if exact := tuple(each for each in known if each.name == wanted):
        return exact
    ending = tuple(each for each in known if each.name.endswith("." + wanted))
    return ending if len({each.name for each in ending}) == 1 else ()


@dataclass(kw_only=True)
class _Level:
    """The children of one node while they are walked, and what the next definition among them inherits."""

    nodes: "Iterator[Node]"
    scope: str = ""
    depth: int = 0
    owner: str = ""
    inside: bool = False
    # The keyword of a group, which its members lack: `type ( … )` in Go.
    word: str = ""
    head: "Node | None" = None
    previous: "Node | None" = None
    comments: "list[Node]" = field(default_factory=list["Node"])
    marks: "list[Node]" = field(default_factory=list["Node"])

    def comment(self, node: "Node") -> None:
        """Joins the run of comments above; a comment behind code on its line is about that code."""
        row = first_row(node)
        above = last_row(self.previous) if self.previous else -2
        if above == row and not self.comments:
            return
        if above + 1 < row:
            self.comments.clear()
        self.comments.append(node)

    def forget(self) -> None:
        """Nothing waits for a definition any more."""
        self.head = None
        if self.comments or self.marks:
            self.comments, self.marks = [], []


class _Walk:
    """Walks definitions and what may hold them, never expressions, with a stack of its own: code may nest deeply."""

    def __init__(self, data: bytes, language: Table, *, free: bool = True) -> None:
        self.data = data
        self.table = language
        self.free = free
        self.levels: list[_Level] = []

    def run(self, root: "Node") -> Iterator[Sited]:
        """The definitions below a node, which is taken to be a whole file."""
        roles, waiting = self.table.roles, self.table.marks | COMMENTS
        self.levels = [_Level(nodes=iter(root.children))]
        while self.levels:
            level = self.levels[-1]
            for node in level.nodes:
                if (kind := node.type) in roles:
                    yield from self.visit(level, node, roles[kind])
                    break
                if kind in waiting or level.comments or level.marks:
                    self.wait(level, node)
                level.previous = node
            else:
                self.levels.pop()

    def wait(self, level: _Level, node: "Node") -> None:
        """Comments and decorators wait for the definition that follows; any other statement ends that."""
        if node.type in COMMENTS:
            level.comment(node)
        elif level.head is None and node.is_named:
            if node.type in self.table.marks:
                level.marks.append(node)
            else:
                level.forget()

    def visit(self, level: _Level, node: "Node", role: Role) -> Iterator[Sited]:
        """Acts on a node that the table names."""
        if isinstance(role, Wrapper):
            self.enter(level, role.inside(node), head=node if role.head else None)
        elif not (role.outer and level.inside):
            yield from self.define(level, node, role)
        level.forget()
        level.previous = node

    def enter(self, level: _Level, node: "Node | None", *, head: "Node | None" = None) -> None:
        """Looks through a node: nothing but the place changes."""
        if node is None:
            return
        inner = _Level(
            nodes=iter(node.children), scope=level.scope, depth=level.depth, owner=level.owner, inside=level.inside
        )
        inner.word = level.word
        if head is not None and _grouped(head):
            inner.word = text(nth(head, 0), self.data) + " "
        elif head is not None:
            inner.head, inner.comments, inner.marks = level.head or head, level.comments, level.marks
        self.levels.append(inner)

    def define(self, level: _Level, node: "Node", rule: Rule) -> Iterator[Sited]:
        """The definitions that a node makes; then its members are next."""
        body = rule.body(node)
        # In broken code the parser makes up names that are not there.
        found = tuple(named for named in rule.read(node, self.data) if named[1])
        if not found:
            self.enter(level, body, head=node if rule.head else None)
        elif found[0][0] not in _VALUES or self.wanted(level, body):
            site = self.locate(level, node, body)
            first = self.describe(level, site, rule, found[0])
            yield first, site
            for kind, name in found[1:]:
                yield replace(first, kind=kind, name=level.scope + name), site
            self.descend(level, body, found[0])

    def wanted(self, level: _Level, body: "Node | None") -> bool:
        """Whether a variable counts here: of a class or with members it does, local it does not, else if asked for."""
        return not level.inside and (self.free or level.owner in _CLASSES or body is not None)

    def descend(self, level: _Level, body: "Node | None", parent: tuple[str, str]) -> None:
        """Looks for members in the body; functions have some in languages that let them."""
        kind, name = parent
        scope = level.scope + name + "."
        if body is None:
            if kind == "namespace":  # `namespace a;` holds for what follows, up to the next
                level.scope = name + "."
        elif level.depth < _DEEPEST and (kind not in _CALLED or self.table.nested):
            inner = _Level(nodes=iter(body.children), scope=scope, depth=level.depth + 1, owner=kind)
            inner.inside = level.inside or kind in _CALLED
            self.levels.append(inner)

    def locate(self, level: _Level, node: "Node", body: "Node | None") -> Site:
        """Takes the decorators off, wherever the grammar puts them: before, in a head, or in the definition."""
        outer = level.head or node
        marks, own = first_own(outer, self.table.marks)
        if own == node:
            inner, own = first_own(node, self.table.marks)
            marks += inner
        marks = (*level.marks, *marks)
        return Site(data=self.data, node=node, outer=outer, body=body, marks=marks, start=own.start_byte)

    def describe(self, level: _Level, site: Site, rule: Rule, named: Named) -> Definition:
        """All that can be said of a definition."""
        node, outer = site.node, site.outer
        kind = _kind(*named, level.owner)
        begin = first_row(site.marks[0] if site.marks and site.marks[0].start_byte < outer.start_byte else outer)
        return Definition(
            name=named[1] if kind == "namespace" and site.body is None else level.scope + named[1],
            kind=kind,
            start=begin + 1,
            end=last_row(node) + 1,
            signature=level.word + signature(site, rule, kind),
            doc=self.document(level, site, begin),
            depth=level.depth,
            decorators=" ".join(" ".join(text(mark, self.data).split()) for mark in site.marks) if site.marks else "",
        )

    def document(self, level: _Level, site: Site, begin: int) -> str:
        """The docstring, or the comment that touches the row where the definition or its decorators begin."""
        if self.table.docstrings:
            return docs.docstring(site.body, self.data)
        if not level.comments:
            return ""
        row = last_row(level.comments[-1])
        rows = (begin, begin - 1, first_row(site.node) - 1)
        return docs.comment(level.comments, self.data) if row in rows else ""


def _grouped(head: "Node") -> bool:
    """`type ( … )` in Go: the head belongs to no single definition."""
    second = nth(head, 1)
    return second is not None and second.type in ("(", "var_spec_list")


def _kind(kind: str, name: str, owner: str) -> str:
    if kind == "function" and owner in _CLASSES:
        return "method"
    return "function" if kind == "method" and not owner and "." not in name else kind
