"""Read the facts of a Python file in one pass over its statements and, for calls, one over its expressions."""

import ast
from collections.abc import Iterator, Sequence
from typing import cast

from marid.syntax.python.resolve.chains import chain, chain_text
from marid.syntax.python.resolve.facts import MODULE, Binding, BindingKind, CallSite, FileFacts, ScopeFacts
from marid.syntax.python.resolve.name_bindings import ScopeBindings, merge_bindings
from marid.syntax.python.scopes import statements, target_names
from marid.syntax.python.source import (
    DEFINITION_NODES,
    FUNCTION_NODES,
    DefinitionNode,
    FunctionNode,
    PythonSource,
    read_source,
)
from marid.text.display import clip

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
        top = ScopeBindings(MODULE)
        body = self.source.tree.body
        self.read_body(top, body, "", in_class=False)
        module = ScopeFacts(key=MODULE, kind="module", line=1, names=top.bindings, calls=self.collect_calls(top, body))
        while self.pending:
            key, node, in_class = self.pending.pop()
            if isinstance(node, ast.ClassDef):
                self.read_class(key, node)
            else:
                self.read_function(key, node, in_class=in_class)
        return FileFacts(scopes={MODULE: module, **self.scopes}, star_imports=tuple(top.star_imports))

    def read_body(self, known: ScopeBindings, body: Sequence[ast.stmt], me: str, *, in_class: bool) -> None:
        """Read the statements of a scope; `me` is the name of the method's own object. Definitions are read later."""
        for node in statements(body):
            if isinstance(node, DEFINITION_NODES):
                key = self.new_key(known.scope, node.name)
                self.pending.append((key, node, in_class))
                if not _is_setter(node):
                    known.bind(node.name, Binding(BindingKind.DEFINITION, (key,), known.scope))
            else:
                known.add_statement(node, me)

    def new_key(self, scope: str, name: str) -> str:
        key = f"{scope}.{name}" if scope else name
        count = self.counts[key] = self.counts.get(key, 0) + 1
        return key if count == 1 else f"{key}#{count}"

    def read_class(self, key: str, node: ast.ClassDef) -> None:
        """Read a class. Attributes that its methods assign are added when those are read."""
        known = ScopeBindings(key)
        self.read_body(known, node.body, "", in_class=True)
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
        known = ScopeBindings(key)
        known.bind_parameters(node)
        me = ""
        if in_class and (kind := _first_parameter_kind(node)):
            me = (node.args.posonlyargs + node.args.args)[0].arg
            known.bindings[me] = Binding(kind, scope=key)
        self.read_body(known, node.body, me, in_class=False)
        if in_class:
            merge_bindings(self.attributes[key.rpartition(".")[0]], known.attributes)
        returned = known.instance_binding(node.returns)
        self.scopes[key] = ScopeFacts(
            key=key,
            kind="function",
            line=self.source.line_of_row(node.lineno - 1),
            names=known.bindings,
            calls=self.collect_calls(known, node.body),
            returns=returned.chain if returned.kind is BindingKind.INSTANCE else (),
            is_property=any(_last_step(each).endswith("property") for each in node.decorator_list),
        )

    def collect_calls(self, known: ScopeBindings, body: Sequence[ast.stmt]) -> tuple[CallSite, ...]:
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
            calls[_MAX_CALLS:] = [
                CallSite(
                    (), f"{len(more):,} more calls, from {more[0].text or chain_text(more[0].chain)}", more[0].line
                )
            ]
        return tuple(calls)


def _find_calls(known: ScopeBindings, body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
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
                known.bindings.setdefault(name, Binding(BindingKind.UNKNOWN))
        waiting += _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    """Much faster than `ast.iter_child_nodes`, because it skips nodes without calls."""
    found: list[ast.AST] = []
    for field in node._fields:
        value: object = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in cast("list[ast.AST]", value) if type(each) not in _LEAVES]
        elif type(value) not in _LEAVES:
            found.append(cast("ast.AST", value))
    return found


def _shadowing_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.comprehension | ast.NamedExpr):
        yield from target_names(node.target)
    elif isinstance(node, ast.Lambda):
        yield from (arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _first_parameter_kind(node: FunctionNode) -> BindingKind | None:
    if not (node.args.posonlyargs or node.args.args):
        return None
    marks = {_last_step(each) for each in node.decorator_list}
    if "staticmethod" in marks:
        return None
    is_class = "classmethod" in marks or node.name in ("__new__", "__init_subclass__", "__class_getitem__")
    return BindingKind.CLS if is_class else BindingKind.SELF


def _is_setter(node: DefinitionNode) -> bool:
    return isinstance(node, FUNCTION_NODES) and any(
        _last_step(each) in ("setter", "deleter") for each in node.decorator_list
    )


def _last_step(node: ast.expr) -> str:
    return (chain(node) or ("",))[-1]
