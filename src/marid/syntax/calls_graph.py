"""Who calls whom, from one function on, as a tree of lines."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from marid.syntax.calls_chains import spelled
from marid.syntax.calls_facts import MODULE, title
from marid.syntax.calls_resolving import Resolver
from marid.syntax.calls_things import Class, External, Function, Instance, Thing

MOST_NODES = 400
MOST_DEPTH = 40
_MOST_NAMES = 40
_MAKERS = ("__init__", "__post_init__", "__new__")


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The tree, and what it leaves out: functions at the last level, and calls beyond the most that are shown."""

    lines: tuple[str, ...]
    functions: int
    unfollowed: int
    dropped: int


@dataclass(kw_only=True)
class _Node:
    """One line of the tree while it grows."""

    label: str
    at: Function | None
    above: "_Node | None" = None
    mark: str = ""
    below: "list[_Node]" = field(default_factory=list["_Node"])
    external: list[str] = field(default_factory=list[str])
    unresolved: list[str] = field(default_factory=list[str])

    def above_too(self, at: Function) -> bool:
        """Whether the function is this one or one that led here."""
        node: _Node | None = self
        while node is not None:
            if node.at == at:
                return True
            node = node.above
        return False


def trace(resolver: Resolver, start: Thing, depth: int, most: int = MOST_NODES) -> Trace:
    """Follow the calls of `start`, level by level, so that what is left out at the end is what lies deepest."""
    growing = _Growing(resolver, most)
    top = growing.node(start) or _Node(label="?", at=None)
    growing.grow(top, min(depth, MOST_DEPTH))
    return Trace(
        lines=tuple(_lines(top)), functions=growing.count, unfollowed=growing.unfollowed, dropped=growing.dropped
    )


class _Growing:
    """The tree while it grows: each function is followed once, where it stands highest."""

    def __init__(self, resolver: Resolver, most: int) -> None:
        self.resolver = resolver
        self.most = most
        self.count = 1
        self.unfollowed = 0
        self.dropped = 0

    def grow(self, top: _Node, depth: int) -> None:
        """Follow calls down to a depth."""
        waiting = deque([(top, 0)])
        followed: set[Function] = set()
        while waiting:
            node, level = waiting.popleft()
            if node.at is None:
                continue
            if node.at in followed:
                node.mark = " [shown elsewhere]" if self._calls(node.at) else ""
            elif level >= depth:
                self.unfollowed += bool(self._calls(node.at))
            else:
                followed.add(node.at)
                self.follow(node, node.at)
                waiting.extend((each, level + 1) for each in node.below if not each.mark)

    def _calls(self, at: Function) -> bool:
        scope = self.resolver.scope(at.path, at.key)
        return bool(scope and scope.calls)

    def follow(self, node: _Node, at: Function) -> None:
        """Add what a function calls."""
        scope = self.resolver.scope(at.path, at.key)
        for call in scope.calls if scope else ():
            thing = self.resolver.follow(at, call.chain)
            words = spelled(call.chain) or call.text
            if isinstance(thing, External):
                node.external += [thing.name] if thing.name != "super" else []
            elif thing is None or (made := self.node(thing)) is None:
                node.unresolved.append(f"{words} (line {call.line})")
            elif self.count >= self.most:
                self.dropped += 1
            else:
                self.count += 1
                made.above = node
                made.mark = " [cycle]" if made.at and node.above_too(made.at) else ""
                node.below.append(made)

    def node(self, thing: Thing) -> _Node | None:
        """The line of what is called; None for what cannot be."""
        if isinstance(thing, Class):
            return self._made(thing)
        if isinstance(thing, Instance):
            found = self.resolver.attribute(thing, "__call__")
            return self.node(found) if isinstance(found, Function) else None
        if not isinstance(thing, Function):
            return None
        return _Node(label=self._label(thing.path, thing.key), at=thing)

    def _made(self, of: Class) -> _Node:
        """Making an object calls the first of its makers that is written down."""
        for name in _MAKERS:
            found = self.resolver.attribute(of, name)
            if isinstance(found, Function):
                own = found.path == of.path and found.key.rpartition(".")[0] == of.key
                note = "" if own else f" [makes {title(of.key)}]"
                return _Node(label=self._label(found.path, found.key) + note, at=found._replace(receiver=of))
        return _Node(label=self._label(of.path, of.key), at=None)

    def _label(self, path: str, key: str) -> str:
        scope = self.resolver.scope(path, key)
        return f"{title(key) if key != MODULE else '<module>'} ({path}:{scope.line if scope else 1})"


def _lines(top: _Node) -> Iterator[str]:
    waiting = [(top, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield f"{'  ' * depth}{node.label}{node.mark}"
        inside = "  " * (depth + 1)
        for word, names in (("external", node.external), ("unresolved", node.unresolved)):
            if names:
                yield f"{inside}{word}: {_several(names)}"
        waiting.extend((each, depth + 1) for each in reversed(node.below))


def _several(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - _MOST_NAMES} more" if len(unique) > _MOST_NAMES else ""
    return ", ".join(unique[:_MOST_NAMES]) + more
