"""The call tree of a function, as lines."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from marid.syntax.python.resolve.facts import (
    MODULE,
    CallSite,
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
    callers: tuple[Function, ...] = ()
    mark: str = ""
    children: "list[_Node]" = field(default_factory=list["_Node"])
    external: list[str] = field(default_factory=list[str])
    unresolved: list[str] = field(default_factory=list[str])


def trace_calls(resolver: Resolver, start: Entity, depth: int, max_nodes: int = MAX_NODES) -> CallTrace:
    """Follow the calls of `start` level by level, so that the limits drop the deepest calls."""
    builder = _TraceBuilder(resolver, max_nodes)
    top = builder.make_node(start) or _Node(label="?", function=None)
    builder.grow(top, min(depth, MAX_DEPTH))
    return CallTrace(
        lines=tuple(_render_lines(top)), functions=builder.count, unfollowed=builder.unfollowed, dropped=builder.dropped
    )


@dataclass
class _TraceBuilder:
    """Builds the tree; each function is followed once, where it is highest."""

    resolver: Resolver
    max_nodes: int
    count: int = 1
    unfollowed: int = 0
    dropped: int = 0

    def grow(self, top: _Node, depth: int) -> None:
        waiting = deque([(top, 0)])
        followed: set[Function] = set()
        while waiting:
            node, level = waiting.popleft()
            if node.function is None or not (calls := self._calls(node.function)):
                continue
            if node.function in followed:
                node.mark = " [shown elsewhere]"
            elif level >= depth:
                self.unfollowed += 1
            else:
                followed.add(node.function)
                self.add_calls(node, node.function, calls)
                waiting.extend((each, level + 1) for each in node.children if not each.mark)

    def _calls(self, at: Function) -> tuple[CallSite, ...]:
        scope = self.resolver.scope(at.path, at.key)
        return scope.calls if scope else ()

    def add_calls(self, node: _Node, at: Function, calls: tuple[CallSite, ...]) -> None:
        for call in calls:
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
                made.callers = (*node.callers, at)
                made.mark = " [cycle]" if made.function in made.callers else ""
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
