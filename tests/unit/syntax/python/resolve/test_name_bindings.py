import ast

import pytest

from marid.syntax.python.resolve.facts import Binding, BindingKind
from marid.syntax.python.resolve.name_bindings import ScopeBindings
from marid.syntax.python.source import FUNCTION_NODES


def names_of(code: str, me: str = "") -> ScopeBindings:
    known = ScopeBindings("f")
    for node in ast.parse(code).body:
        known.add_statement(node, me)
    return known


@pytest.mark.parametrize(
    ("code", "name", "bound"),
    [
        ("import a.b", "a", Binding(BindingKind.MODULE, module="a")),
        ("import a.b as c", "c", Binding(BindingKind.MODULE, module="a.b")),
        ("from ..a import b as c", "c", Binding(BindingKind.MEMBER, ("b",), module="a", level=2)),
        ("from . import b", "b", Binding(BindingKind.MEMBER, ("b",), level=1)),
        ("x = A()", "x", Binding(BindingKind.VALUE, ("A", "()"), "f")),
        ("x = None\nx = A()", "x", Binding(BindingKind.VALUE, ("A", "()"), "f")),
        ("x = A()\nx = A()", "x", Binding(BindingKind.VALUE, ("A", "()"), "f")),
        ("x = A()\nx = B()", "x", Binding(BindingKind.UNKNOWN)),
        ("x = y[0]", "x", Binding(BindingKind.UNKNOWN)),
        ("x, y = a", "y", Binding(BindingKind.UNKNOWN)),
        ("x: A = y", "x", Binding(BindingKind.INSTANCE, ("A",), "f")),
        ("x: type[A]", "x", Binding(BindingKind.VALUE, ("A",), "f")),
        ("X: TypeAlias = A", "X", Binding(BindingKind.VALUE, ("A",), "f")),
        ("with A() as x: ...", "x", Binding(BindingKind.VALUE, ("A", "()"), "f")),
        ("for x in y: ...", "x", Binding(BindingKind.UNKNOWN)),
        ("from a import x\nfrom b import x", "x", Binding(BindingKind.MEMBER, ("x",), module="a")),
        ("x = 1\nfrom b import x", "x", Binding(BindingKind.MEMBER, ("x",), module="b")),
    ],
)
def test_what_a_statement_binds(code: str, name: str, bound: Binding) -> None:
    assert names_of(code).bindings[name] == bound


def test_nothing_is_learnt_from_other_statements() -> None:
    known = names_of("x = None\na.b = c\nprint()\nwith a: ...")
    assert known.bindings == known.attributes == {}


def test_a_method_binds_what_it_assigns_to_itself() -> None:
    known = names_of("self.a = A()\nself.b: B\nother.c = C()\nself.d.e = E()", "self")
    assert known.attributes == {
        "a": Binding(BindingKind.VALUE, ("A", "()"), "f"),
        "b": Binding(BindingKind.INSTANCE, ("B",), "f"),
    }


def test_all_names_of_a_module_are_noted() -> None:
    assert names_of("from a import *\nfrom .b import *").star_imports == [("a", 0), ("b", 1)]


def test_parameters_are_what_their_annotations_say() -> None:
    node = ast.parse("def f(a, /, b: A, *c: B, d: 'C' = 1, **e): ...").body[0]
    assert isinstance(node, FUNCTION_NODES)
    known = ScopeBindings("f")
    known.bind_parameters(node)
    assert {name: bound.chain for name, bound in known.bindings.items()} == {
        "a": (),
        "b": ("A",),
        "c": (),
        "d": ("C",),
        "e": (),
    }
