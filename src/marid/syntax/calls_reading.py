"""Reading the facts of a Python file, in one pass over its statements and, for calls, one over its expressions."""

import ast
from collections.abc import Iterator, Sequence
from typing import cast

from marid.syntax.calls_chains import chain, spelled
from marid.syntax.calls_facts import MODULE, Bound, Call, File, Kind, Scope
from marid.syntax.calls_names import Names, merge
from marid.syntax.pyview_outline import names
from marid.syntax.pyview_scopes import DEFINED, FUNCTIONS, Defined, Function, statements
from marid.syntax.pyview_source import Source, read

_LONGEST = 60
_MOST_CALLS = 1000
# What holds no call: names, values, and the many kinds of operators.
_OPERATORS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_LEAVES: frozenset[type] = frozenset(
    (ast.Name, ast.Constant, str, int, type(None), *(kind for group in _OPERATORS for kind in group.__subclasses__()))
)


def py_facts(data: bytes) -> File:
    """All that calls can be followed by.

    Raises:
        BadInput: the file does not parse.
        Exhausted: it is nested too deeply.
    """
    return _Reading(read(data), calls=True).run()


def py_class_facts(data: bytes) -> File:
    """The same without the calls, for those who follow classes only. Raises as `py_facts`."""
    return _Reading(read(data), calls=False).run()


class _Reading:
    """One file while it is read."""

    def __init__(self, source: Source, *, calls: bool) -> None:
        self.source = source
        self.calls = calls
        self.scopes: dict[str, Scope] = {}
        self.counts: dict[str, int] = {}
        self.attributes: dict[str, dict[str, Bound]] = {}
        self.waiting: list[tuple[str, Defined, bool]] = []

    def run(self) -> File:
        """Scopes are read from the outside in, so that a method finds its class."""
        top = Names(MODULE)
        body = self.source.tree.body
        self.fill(top, body, "", in_class=False)
        module = Scope(key=MODULE, kind="module", line=1, names=top.bound, calls=self.called(top, body))
        while self.waiting:
            key, node, in_class = self.waiting.pop()
            if isinstance(node, ast.ClassDef):
                self.read_class(key, node)
            else:
                self.read_function(key, node, in_class=in_class)
        return File(scopes={MODULE: module, **self.scopes}, stars=tuple(top.stars))

    def fill(self, known: Names, body: Sequence[ast.stmt], me: str, *, in_class: bool) -> None:
        """Take in the statements of a scope; definitions among them are read later."""
        for node in statements(body):
            if isinstance(node, DEFINED):
                key = self.new_key(known.scope, node.name)
                self.waiting.append((key, node, in_class))
                if not _is_setter(node):
                    known.bind(node.name, Bound(Kind.DEFINITION, (key,), known.scope))
            else:
                known.read(node, me)

    def new_key(self, scope: str, name: str) -> str:
        """A key that no other definition has."""
        key = f"{scope}.{name}" if scope else name
        count = self.counts[key] = self.counts.get(key, 0) + 1
        return key if count == 1 else f"{key}#{count}"

    def read_class(self, key: str, node: ast.ClassDef) -> None:
        """A class; what its methods assign to themselves is filled in when they are read."""
        known = Names(key)
        self.fill(known, node.body, "", in_class=True)
        attributes = self.attributes[key] = {}
        self.scopes[key] = Scope(
            key=key,
            kind="class",
            line=self.source.line(node.lineno),
            names=known.bound,
            attributes=attributes,
            bases=tuple(chain(_plain(base)) for base in node.bases),
            signature=self.source.signature(node),
        )

    def read_function(self, key: str, node: Function, *, in_class: bool) -> None:
        """A function; the first parameter of a method is its object or its class."""
        known = Names(key)
        known.parameters(node)
        me = ""
        if in_class and (kind := _first_parameter(node)):
            me = (node.args.posonlyargs + node.args.args)[0].arg
            known.bound[me] = Bound(kind, scope=key)
        self.fill(known, node.body, me, in_class=False)
        if in_class:
            merge(self.attributes[key.rpartition(".")[0]], known.attributes)
        returned = known.instance(node.returns)
        self.scopes[key] = Scope(
            key=key,
            kind="function",
            line=self.source.line(node.lineno),
            names=known.bound,
            calls=self.called(known, node.body),
            returns=returned.chain if returned.kind is Kind.INSTANCE else (),
            is_property=any(_last(each).endswith("property") for each in node.decorator_list),
        )

    def called(self, known: Names, body: Sequence[ast.stmt]) -> tuple[Call, ...]:
        """The calls in a scope, inner ones first, as they are made; each callee once."""
        if not self.calls:
            return ()
        nodes = sorted(_calls(known, body), key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
        found: dict[tuple[object, str], Call] = {}
        for node in nodes:
            steps = chain(node.func)
            text = "" if steps else self.words(node.func)
            found.setdefault((steps, text), Call(steps, text, self.source.line(node.lineno)))
        calls = list(found.values())
        if more := calls[_MOST_CALLS:]:
            calls[_MOST_CALLS:] = [
                Call((), f"{len(more):,} more calls, from {more[0].text or spelled(more[0].chain)}", more[0].line)
            ]
        return tuple(calls)

    def words(self, node: ast.expr) -> str:
        """The text of an expression, in short."""
        text = " ".join(self.source.text(self.source.start(node), self.source.end(node)).split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _calls(known: Names, body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """The calls below some statements, none of inner definitions; names that expressions bind hide outer ones."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, DEFINED):
            continue
        if isinstance(node, ast.Call):
            yield node
        elif isinstance(node, ast.comprehension | ast.NamedExpr | ast.Lambda | ast.ExceptHandler):
            for name in _hidden(node):
                known.bound.setdefault(name, Bound(Kind.UNKNOWN))
        waiting += _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    """Much faster than the iterators of `ast`, by leaving out what holds no call."""
    found: list[ast.AST] = []
    for field in node._fields:
        value: object = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in cast("list[ast.AST]", value) if type(each) not in _LEAVES]
        elif type(value) not in _LEAVES:
            found.append(cast("ast.AST", value))
    return found


def _hidden(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.comprehension | ast.NamedExpr):
        yield from names(node.target)
    elif isinstance(node, ast.Lambda):
        yield from (arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _first_parameter(node: Function) -> Kind | None:
    if not (node.args.posonlyargs or node.args.args):
        return None
    marks = {_last(each) for each in node.decorator_list}
    if "staticmethod" in marks:
        return None
    is_class = "classmethod" in marks or node.name in ("__new__", "__init_subclass__", "__class_getitem__")
    return Kind.CLS if is_class else Kind.SELF


def _is_setter(node: Defined) -> bool:
    return isinstance(node, FUNCTIONS) and any(_last(each) in ("setter", "deleter") for each in node.decorator_list)


def _last(node: ast.expr) -> str:
    return (chain(node) or ("",))[-1]


def _plain(base: ast.expr) -> ast.expr:
    """`Generic[T]` is `Generic`."""
    return base.value if isinstance(base, ast.Subscript) else base
