"""The call tree of a function, as lines."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from marid.syntax.python.resolve.facts import (
    MODULE,
    Class,
    Entity,
    External,
    Function,
    Instance,
    chain_text,
    dotted_name,
)
from marid.syntax.python.resolve.resolver import Resolver
from marid.text.display import join_limited

MAX_NODES = 400
MAX_DEPTH = 40
_MAX_NAMES = 40
_CONSTRUCTORS = ("__init__", "__post_init__", "__new__")


@dataclass(frozen=True, kw_only=True)
class CallTrace:
    """The call tree, and how many functions the depth limit left unfollowed and calls the node limit dropped."""

    lines: tuple[str, ...]
    functions: int
    unfollowed: int
    dropped: int


@dataclass(kw_only=True)
class _Node:
    """One line of the tree."""

    label: str
    function: Function | None
    parent: "_Node | None" = None
    mark: str = ""
    children: "list[_Node]" = field(default_factory=list["_Node"])
    external: list[str] = field(default_factory=list[str])
    unresolved: list[str] = field(default_factory=list[str])

    def has_ancestor(self, at: Function) -> bool:
        """Whether the function is this one or a caller of it."""
        node: _Node | None = self
        while node is not None:
            if node.function == at:
                return True
            node = node.parent
        return False


def trace_calls(resolver: Resolver, start: Entity, depth: int, max_nodes: int = MAX_NODES) -> CallTrace:
    """Follow the calls of `start` level by level, so that the limits drop the deepest calls."""
    builder = _TraceBuilder(resolver, max_nodes)
    top = builder.make_node(start) or _Node(label="?", function=None)
    builder.grow(top, min(depth, MAX_DEPTH))
    return CallTrace(
        lines=tuple(_render_lines(top)), functions=builder.count, unfollowed=builder.unfollowed, dropped=builder.dropped
    )


class _TraceBuilder:
    """Builds the tree; each function is followed once, where it is highest."""

    def __init__(self, resolver: Resolver, max_nodes: int) -> None:
        self.resolver = resolver
        self.max_nodes = max_nodes
        self.count = 1
        self.unfollowed = 0
        self.dropped = 0

    def grow(self, top: _Node, depth: int) -> None:
        waiting = deque([(top, 0)])
        followed: set[Function] = set()
        while waiting:
            node, level = waiting.popleft()
            if node.function is None:
                continue
            if node.function in followed:
                node.mark = " [shown elsewhere]" if self._has_calls(node.function) else ""
            elif level >= depth:
                self.unfollowed += bool(self._has_calls(node.function))
            else:
                followed.add(node.function)
                self.add_calls(node, node.function)
                waiting.extend((each, level + 1) for each in node.children if not each.mark)

    def _has_calls(self, at: Function) -> bool:
        scope = self.resolver.scope(at.path, at.key)
        return bool(scope and scope.calls)

    def add_calls(self, node: _Node, at: Function) -> None:
        scope = self.resolver.scope(at.path, at.key)
        for call in scope.calls if scope else ():
            thing = self.resolver.follow(at, call.chain)
            words = chain_text(call.chain) or call.text
            if isinstance(thing, External):
                node.external += [thing.name] if thing.name != "super" else []
            elif thing is None or (made := self.make_node(thing)) is None:
                node.unresolved.append(f"{words} (line {call.line})")
            elif self.count >= self.max_nodes:
                self.dropped += 1
            else:
                self.count += 1
                made.parent = node
                made.mark = " [cycle]" if made.function and node.has_ancestor(made.function) else ""
                node.children.append(made)

    def make_node(self, thing: Entity) -> _Node | None:
        """The node of a callee; None if it cannot be called."""
        if isinstance(thing, Class):
            return self._constructor_node(thing)
        if isinstance(thing, Instance):
            found = self.resolver.attribute(thing, "__call__")
            return self.make_node(found) if isinstance(found, Function) else None
        if not isinstance(thing, Function):
            return None
        return _Node(label=self._label(thing.path, thing.key), function=thing)

    def _constructor_node(self, of: Class) -> _Node:
        """Creating an object calls the first constructor that is defined in the tree."""
        for name in _CONSTRUCTORS:
            found = self.resolver.attribute(of, name)
            if isinstance(found, Function):
                own = found.path == of.path and found.key.rpartition(".")[0] == of.key
                note = "" if own else f" [makes {dotted_name(of.key)}]"
                return _Node(label=self._label(found.path, found.key) + note, function=found._replace(receiver=of))
        return _Node(label=self._label(of.path, of.key), function=None)

    def _label(self, path: str, key: str) -> str:
        scope = self.resolver.scope(path, key)
        return f"{dotted_name(key) if key != MODULE else '<module>'} ({path}:{scope.line if scope else 1})"


def _render_lines(top: _Node) -> Iterator[str]:
    waiting = [(top, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield f"{'  ' * depth}{node.label}{node.mark}"
        inside = "  " * (depth + 1)
        for word, names in (("external", node.external), ("unresolved", node.unresolved)):
            if names:
                yield f"{inside}{word}: {join_limited(list(dict.fromkeys(names)), _MAX_NAMES)}"
        waiting.extend((each, depth + 1) for each in reversed(node.children))
