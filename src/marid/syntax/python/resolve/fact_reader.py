"""Read the facts of a Python file in one pass over its statements and, for calls, one over its expressions."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from marid.syntax.python.resolve.facts import (
    MODULE,
    Binding,
    BindingKind,
    CallSite,
    Chain,
    FileFacts,
    ScopeFacts,
    annotation_class,
    chain,
    chain_text,
    is_none,
)
from marid.syntax.python.scopes import statements, target_names
from marid.syntax.python.source import DEFINITION_NODES, DefinitionNode, FunctionNode, PythonSource, read_source
from marid.text.display import clip

_UNKNOWN = Binding(BindingKind.UNKNOWN)
_PRECEDENCE = {BindingKind.DEFINITION: 3, BindingKind.MODULE: 2, BindingKind.MEMBER: 2}
_MAX_TEXT_LENGTH = 60
_MAX_CALLS = 1000
# Node types that contain no calls: names, values and operators.
_OPERATORS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_LEAVES: frozenset[type] = frozenset(
    (ast.Name, ast.Constant, str, int, type(None), *(kind for group in _OPERATORS for kind in group.__subclasses__()))
)


def py_facts(data: bytes) -> FileFacts:
    """All facts of a file. Raises as `read_source`."""
    return _FactReader(read_source(data), calls=True).run()


def py_class_facts(data: bytes) -> FileFacts:
    """The facts without calls, enough to resolve classes. Raises as `read_source`."""
    return _FactReader(read_source(data), calls=False).run()


def _bind(into: dict[str, Binding], name: str, new: Binding) -> None:
    """Definitions beat imports, which beat values; the last definition, the first import; two values are unknown."""
    old = into.setdefault(name, new)
    if old == new:
        return
    before, after = _PRECEDENCE.get(old.kind, 1), _PRECEDENCE.get(new.kind, 1)
    if after > before or after == 3:
        into[name] = new
    elif after == before == 1:
        into[name] = _UNKNOWN


@dataclass
class _ScopeReader:
    """Collects the bindings of one scope; `me` is the name of a method's own object, else empty."""

    scope: str
    me: str = ""
    bindings: dict[str, Binding] = field(default_factory=dict[str, Binding])
    attributes: dict[str, Binding] = field(default_factory=dict[str, Binding])
    star_imports: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def add_statement(self, node: ast.stmt) -> None:
        """Add the names that a statement binds."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                _bind(self.bindings, alias.asname or module, Binding(BindingKind.MODULE, module=module))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    self.star_imports.append((node.module or "", node.level))
                else:
                    bound = Binding(BindingKind.MEMBER, (alias.name,), module=node.module or "", level=node.level)
                    _bind(self.bindings, alias.asname or alias.name, bound)
        else:
            for target, value in self._assignments(node):
                self._assign(target, value)

    def _assignments(self, node: ast.stmt) -> Iterator[tuple[ast.expr, Binding]]:
        if isinstance(node, ast.Assign):
            if not is_none(node.value):  # another assignment shows what `x = None` is
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
            _bind(self.bindings, arg.arg, self.instance_binding(arg.annotation))
        for arg in (given.vararg, given.kwarg):
            if arg:
                _bind(self.bindings, arg.arg, _UNKNOWN)

    def instance_binding(self, annotation: ast.expr | None) -> Binding:
        """The binding of a name with this annotation."""
        itself, steps = annotation_class(annotation)
        return self._make_binding(BindingKind.VALUE if itself else BindingKind.INSTANCE, steps)

    def _value_binding(self, node: ast.expr | None) -> Binding:
        return self._make_binding(BindingKind.VALUE, chain(node))

    def _make_binding(self, kind: BindingKind, steps: Chain) -> Binding:
        return Binding(kind, steps, self.scope) if steps else _UNKNOWN

    def _assign(self, target: ast.expr, value: Binding) -> None:
        if isinstance(target, ast.Name):
            _bind(self.bindings, target.id, value)
        elif isinstance(target, ast.Attribute):
            if self.me and isinstance(target.value, ast.Name) and target.value.id == self.me:
                _bind(self.attributes, target.attr, value)
        else:
            for name in target_names(target):
                _bind(self.bindings, name, _UNKNOWN)


class _FactReader:
    def __init__(self, source: PythonSource, *, calls: bool) -> None:
        self.source = source
        self.calls = calls
        self.scopes: dict[str, ScopeFacts] = {}
        self.counts: dict[str, int] = {}
        self.attributes: dict[str, dict[str, Binding]] = {}
        self.pending: list[tuple[str, DefinitionNode, bool]] = []

    def run(self) -> FileFacts:
        """Read scopes from the outside in, so that a method finds its class."""
        top, body = _ScopeReader(MODULE), self.source.tree.body
        self.read_body(top, body, in_class=False)
        module = ScopeFacts(key=MODULE, kind="module", line=1, names=top.bindings, calls=self.collect_calls(top, body))
        while self.pending:
            key, node, in_class = self.pending.pop()
            if isinstance(node, ast.ClassDef):
                self.read_class(key, node)
            else:
                self.read_function(key, node, in_class=in_class)
        return FileFacts(scopes={MODULE: module, **self.scopes}, star_imports=tuple(top.star_imports))

    def read_body(self, known: _ScopeReader, body: list[ast.stmt], *, in_class: bool) -> None:
        """Read the statements of a scope. Definitions are read later."""
        for node in statements(body):
            if not isinstance(node, DEFINITION_NODES):
                known.add_statement(node)
                continue
            key = f"{known.scope}.{node.name}" if known.scope else node.name
            count = self.counts[key] = self.counts.get(key, 0) + 1
            key = key if count == 1 else f"{key}#{count}"
            self.pending.append((key, node, in_class))
            if not {"setter", "deleter"} & _decorator_names(node):
                _bind(known.bindings, node.name, Binding(BindingKind.DEFINITION, (key,), known.scope))

    def read_class(self, key: str, node: ast.ClassDef) -> None:
        """Read a class. Attributes that its methods assign are added when those are read."""
        known = _ScopeReader(key)
        self.read_body(known, node.body, in_class=True)
        attributes = self.attributes[key] = {}
        self.scopes[key] = ScopeFacts(
            key=key,
            kind="class",
            line=self.source.line_of_row(node.lineno - 1),
            names=known.bindings,
            attributes=attributes,
            # `Generic[T]` is `Generic`.
            bases=tuple(chain(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases),
            signature=self.source.signature(node),
        )

    def read_function(self, key: str, node: FunctionNode, *, in_class: bool) -> None:
        """Read a function. The first parameter of a method is its object or its class."""
        known = _ScopeReader(key)
        known.bind_parameters(node)
        if in_class and (kind := _first_parameter_kind(node)):
            known.me = (node.args.posonlyargs + node.args.args)[0].arg
            known.bindings[known.me] = Binding(kind, scope=key)
        self.read_body(known, node.body, in_class=False)
        for name, bound in known.attributes.items() if in_class else ():
            _bind(self.attributes[key.rpartition(".")[0]], name, bound)
        returned = known.instance_binding(node.returns)
        self.scopes[key] = ScopeFacts(
            key=key,
            kind="function",
            line=self.source.line_of_row(node.lineno - 1),
            names=known.bindings,
            calls=self.collect_calls(known, node.body),
            returns=returned.chain if returned.kind is BindingKind.INSTANCE else (),
            is_property=any(name.endswith("property") for name in _decorator_names(node)),
        )

    def collect_calls(self, known: _ScopeReader, body: Sequence[ast.stmt]) -> tuple[CallSite, ...]:
        """The calls of a scope in the order they are made, inner ones first; each callee once."""
        if not self.calls:
            return ()
        nodes = sorted(_find_calls(known, body), key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
        found: dict[tuple[object, str], CallSite] = {}
        for node in nodes:
            steps = chain(node.func)
            text = "" if steps else clip(self.source.node_line(node.func), _MAX_TEXT_LENGTH)
            found.setdefault((steps, text), CallSite(steps, text, self.source.line_of_row(node.lineno - 1)))
        calls = list(found.values())
        if more := calls[_MAX_CALLS:]:
            text = f"{len(more):,} more calls, from {more[0].text or chain_text(more[0].chain)}"
            calls[_MAX_CALLS:] = [CallSite((), text, more[0].line)]
        return tuple(calls)


def _find_calls(known: _ScopeReader, body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """The calls below statements, without inner definitions. Names bound by expressions hide outer ones."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, DEFINITION_NODES):
            continue
        if isinstance(node, ast.Call):
            yield node
        elif isinstance(node, ast.comprehension | ast.NamedExpr | ast.Lambda | ast.ExceptHandler):
            for name in _shadowing_names(node):
                known.bindings.setdefault(name, _UNKNOWN)
        waiting += _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    """Much faster than `ast.iter_child_nodes`, because it skips nodes without calls."""
    found: list[ast.AST] = []
    for name in node._fields:
        value: object = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in cast("list[ast.AST]", value) if type(each) not in _LEAVES]
        elif type(value) not in _LEAVES:
            found.append(cast("ast.AST", value))
    return found


def _shadowing_names(node: ast.comprehension | ast.NamedExpr | ast.Lambda | ast.ExceptHandler) -> Iterator[str]:
    if isinstance(node, ast.Lambda):
        yield from (arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    elif not isinstance(node, ast.ExceptHandler):
        yield from target_names(node.target)
    elif node.name:
        yield node.name


def _first_parameter_kind(node: FunctionNode) -> BindingKind | None:
    marks = _decorator_names(node)
    if "staticmethod" in marks or not (node.args.posonlyargs or node.args.args):
        return None
    is_class = "classmethod" in marks or node.name in ("__new__", "__init_subclass__", "__class_getitem__")
    return BindingKind.CLS if is_class else BindingKind.SELF


def _decorator_names(node: DefinitionNode) -> set[str]:
    """The last step of each decorator."""
    return {step for each in node.decorator_list for step in chain(each)[-1:]}
