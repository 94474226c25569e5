"""The names that the statements of a scope bind."""

import ast
from collections.abc import Iterator

from marid.syntax.calls_chains import Chain, annotated, chain
from marid.syntax.calls_facts import Bound, Kind
from marid.syntax.pyview_outline import names
from marid.syntax.pyview_scopes import Function

_UNKNOWN = Bound(Kind.UNKNOWN)
_STRENGTH = {Kind.DEFINITION: 3, Kind.MODULE: 2, Kind.MEMBER: 2}


class Names:
    """The names of one scope while it is read. What is bound twice in different ways is not known."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.bound: dict[str, Bound] = {}
        self.attributes: dict[str, Bound] = {}
        self.stars: list[tuple[str, int]] = []

    def bind(self, name: str, new: Bound) -> None:
        """Definitions beat imports, which beat values; the last definition, but the first import, is meant."""
        _merge(self.bound, name, new)

    def read(self, node: ast.stmt, me: str) -> None:
        """Take in one statement; `me` is what a method calls its own object, if this is one."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                self.bind(alias.asname or module, Bound(Kind.MODULE, module=module))
        elif isinstance(node, ast.ImportFrom):
            self._members(node)
        else:
            for target, value in self._assigned(node):
                self._assign(target, value, me)

    def _assigned(self, node: ast.stmt) -> Iterator[tuple[ast.expr, Bound | None]]:
        if isinstance(node, ast.Assign):
            value = self._value(node.value)
            yield from ((target, value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign):
            alias = node.value and annotated(node.annotation)[1][-1:] == ("TypeAlias",)
            yield node.target, self._value(node.value) if alias else self.instance(node.annotation)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars:
                    yield item.optional_vars, self._value(item.context_expr)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield node.target, _UNKNOWN

    def parameters(self, node: Function) -> None:
        """Parameters are known by their annotations."""
        given = node.args
        for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            self.bind(arg.arg, self.instance(arg.annotation))
        for arg in (given.vararg, given.kwarg):
            if arg:
                self.bind(arg.arg, _UNKNOWN)

    def instance(self, annotation: ast.expr | None) -> Bound:
        """What has this annotation."""
        itself, steps = annotated(annotation)
        return self._at(Kind.VALUE if itself else Kind.INSTANCE, steps)

    def _members(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.stars.append((node.module or "", node.level))
            else:
                bound = Bound(Kind.MEMBER, (alias.name,), module=node.module or "", level=node.level)
                self.bind(alias.asname or alias.name, bound)

    def _value(self, node: ast.expr | None) -> Bound | None:
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        return self._at(Kind.VALUE, chain(node))

    def _at(self, kind: Kind, steps: Chain) -> Bound:
        return Bound(kind, steps, self.scope) if steps else _UNKNOWN

    def _assign(self, target: ast.expr, value: Bound | None, me: str) -> None:
        """Nothing is learnt from `x = None`: what x is, another line says."""
        if value is None:
            return
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Attribute):
            if me and isinstance(target.value, ast.Name) and target.value.id == me:
                _merge(self.attributes, target.attr, value)
        else:
            for name in names(target):
                self.bind(name, _UNKNOWN)


def merge(into: dict[str, Bound], more: dict[str, Bound]) -> None:
    """Add what another scope says."""
    for name, bound in more.items():
        _merge(into, name, bound)


def _merge(into: dict[str, Bound], name: str, new: Bound) -> None:
    old = into.get(name)
    if old is None or old == new:
        into[name] = new
        return
    before, after = _STRENGTH.get(old.kind, 1), _STRENGTH.get(new.kind, 1)
    if after > before or after == 3:
        into[name] = new
    elif after == before == 1:
        into[name] = _UNKNOWN
