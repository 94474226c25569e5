"""The names that the statements of a scope bind."""

import ast
from collections.abc import Iterator

from marid.syntax.python.resolve.chains import Chain, annotation_class, chain
from marid.syntax.python.resolve.facts import Binding, BindingKind
from marid.syntax.python.scopes import target_names
from marid.syntax.python.source import FunctionNode

_UNKNOWN = Binding(BindingKind.UNKNOWN)
_PRECEDENCE = {BindingKind.DEFINITION: 3, BindingKind.MODULE: 2, BindingKind.MEMBER: 2}


class ScopeBindings:
    """Collects the bindings of one scope. A name with two different values is unknown."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.bindings: dict[str, Binding] = {}
        self.attributes: dict[str, Binding] = {}
        self.star_imports: list[tuple[str, int]] = []

    def bind(self, name: str, new: Binding) -> None:
        """Definitions beat imports, which beat values; of definitions the last counts, of imports the first."""
        _merge_binding(self.bindings, name, new)

    def add_statement(self, node: ast.stmt, me: str) -> None:
        """Add the names that a statement binds; `me` is the name of a method's own object, else empty."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                self.bind(alias.asname or module, Binding(BindingKind.MODULE, module=module))
        elif isinstance(node, ast.ImportFrom):
            self._bind_imports(node)
        else:
            for target, value in self._assignments(node):
                self._assign(target, value, me)

    def _assignments(self, node: ast.stmt) -> Iterator[tuple[ast.expr, Binding | None]]:
        if isinstance(node, ast.Assign):
            value = self._value_binding(node.value)
            yield from ((target, value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign):
            alias = node.value and annotation_class(node.annotation)[1][-1:] == ("TypeAlias",)
            yield node.target, self._value_binding(node.value) if alias else self.instance_binding(node.annotation)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars:
                    yield item.optional_vars, self._value_binding(item.context_expr)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield node.target, _UNKNOWN

    def bind_parameters(self, node: FunctionNode) -> None:
        """Bind parameters by their annotations."""
        given = node.args
        for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            self.bind(arg.arg, self.instance_binding(arg.annotation))
        for arg in (given.vararg, given.kwarg):
            if arg:
                self.bind(arg.arg, _UNKNOWN)

    def instance_binding(self, annotation: ast.expr | None) -> Binding:
        """The binding of a name with this annotation."""
        itself, steps = annotation_class(annotation)
        return self._make_binding(BindingKind.VALUE if itself else BindingKind.INSTANCE, steps)

    def _bind_imports(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.star_imports.append((node.module or "", node.level))
            else:
                bound = Binding(BindingKind.MEMBER, (alias.name,), module=node.module or "", level=node.level)
                self.bind(alias.asname or alias.name, bound)

    def _value_binding(self, node: ast.expr | None) -> Binding | None:
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        return self._make_binding(BindingKind.VALUE, chain(node))

    def _make_binding(self, kind: BindingKind, steps: Chain) -> Binding:
        return Binding(kind, steps, self.scope) if steps else _UNKNOWN

    def _assign(self, target: ast.expr, value: Binding | None, me: str) -> None:
        """Ignore `x = None`: another assignment shows what x is."""
        if value is None:
            return
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Attribute):
            if me and isinstance(target.value, ast.Name) and target.value.id == me:
                _merge_binding(self.attributes, target.attr, value)
        else:
            for name in target_names(target):
                self.bind(name, _UNKNOWN)


def merge_bindings(into: dict[str, Binding], more: dict[str, Binding]) -> None:
    """Add the bindings of another scope."""
    for name, bound in more.items():
        _merge_binding(into, name, bound)


def _merge_binding(into: dict[str, Binding], name: str, new: Binding) -> None:
    old = into.get(name)
    if old is None or old == new:
        into[name] = new
        return
    before, after = _PRECEDENCE.get(old.kind, 1), _PRECEDENCE.get(new.kind, 1)
    if after > before or after == 3:
        into[name] = new
    elif after == before == 1:
        into[name] = _UNKNOWN
