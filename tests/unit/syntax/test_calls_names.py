import ast

import pytest

from marid.syntax.calls_facts import Bound, Kind
from marid.syntax.calls_names import Names
from marid.syntax.pyview_scopes import FUNCTIONS


def names_of(code: str, me: str = "") -> Names:
    known = Names("f")
    for node in ast.parse(code).body:
        known.read(node, me)
    return known


@pytest.mark.parametrize(
    ("code", "name", "bound"),
    [
        ("import a.b", "a", Bound(Kind.MODULE, module="a")),
        ("import a.b as c", "c", Bound(Kind.MODULE, module="a.b")),
        ("from ..a import b as c", "c", Bound(Kind.MEMBER, ("b",), module="a", level=2)),
        ("from . import b", "b", Bound(Kind.MEMBER, ("b",), level=1)),
        ("x = A()", "x", Bound(Kind.VALUE, ("A", "()"), "f")),
        ("x = None\nx = A()", "x", Bound(Kind.VALUE, ("A", "()"), "f")),
        ("x = A()\nx = A()", "x", Bound(Kind.VALUE, ("A", "()"), "f")),
        ("x = A()\nx = B()", "x", Bound(Kind.UNKNOWN)),
        ("x = y[0]", "x", Bound(Kind.UNKNOWN)),
        ("x, y = a", "y", Bound(Kind.UNKNOWN)),
        ("x: A = y", "x", Bound(Kind.INSTANCE, ("A",), "f")),
        ("x: type[A]", "x", Bound(Kind.VALUE, ("A",), "f")),
        ("X: TypeAlias = A", "X", Bound(Kind.VALUE, ("A",), "f")),
        ("with A() as x: ...", "x", Bound(Kind.VALUE, ("A", "()"), "f")),
        ("for x in y: ...", "x", Bound(Kind.UNKNOWN)),
        ("from a import x\nfrom b import x", "x", Bound(Kind.MEMBER, ("x",), module="a")),
        ("x = 1\nfrom b import x", "x", Bound(Kind.MEMBER, ("x",), module="b")),
    ],
)
def test_what_a_statement_binds(code: str, name: str, bound: Bound) -> None:
    assert names_of(code).bound[name] == bound


def test_nothing_is_learnt_from_other_statements() -> None:
    known = names_of("x = None\na.b = c\nprint()\nwith a: ...")
    assert known.bound == known.attributes == {}


def test_a_method_binds_what_it_assigns_to_itself() -> None:
    known = names_of("self.a = A()\nself.b: B\nother.c = C()\nself.d.e = E()", "self")
    assert known.attributes == {
        "a": Bound(Kind.VALUE, ("A", "()"), "f"),
        "b": Bound(Kind.INSTANCE, ("B",), "f"),
    }


def test_all_names_of_a_module_are_noted() -> None:
    assert names_of("from a import *\nfrom .b import *").stars == [("a", 0), ("b", 1)]


def test_parameters_are_what_their_annotations_say() -> None:
    node = ast.parse("def f(a, /, b: A, *c: B, d: 'C' = 1, **e): ...").body[0]
    assert isinstance(node, FUNCTIONS)
    known = Names("f")
    known.parameters(node)
    assert {name: bound.chain for name, bound in known.bound.items()} == {
        "a": (),
        "b": ("A",),
        "c": (),
        "d": ("C",),
        "e": (),
    }
