import ast

import pytest

from marid.core.errors import BadInput
from marid.syntax.python.resolve.fact_reader import py_class_facts, py_facts
from marid.syntax.python.resolve.facts import BindingKind, FileFacts, annotation_class, chain, chain_text

CODE = b"""\
from a import *
class A(Generic[T], b.B, c()):
    x: X
    def __init__(self, y: Y):
        self.y = y
        self.z = Z()
    @property
    def p(self) -> "P": ...
    @p.setter
    def p(self, value): ...
    @classmethod
    def make(cls): return cls()
    @staticmethod
    def free(thing): ...
    def alone(): ...
    def __new__(cls): ...
def f(n):
    def inner(): return g()
    try:
        [h(i) for i in n if (w := k(i))]
    except E as error:
        error.show(lambda v: v.do())
    table[0](f(inner()))
def f(): ...
run()
"""


def calls(file: FileFacts, key: str) -> list[str]:
    return [chain_text(call.chain) or call.text for call in file.scopes[key].calls]


def test_calls_come_in_the_order_in_which_they_are_made() -> None:
    file = py_facts(CODE)
    assert calls(file, "f") == ["h", "k", "v.do", "error.show", "inner", "f", "table[0]"]
    assert calls(file, "f.inner") == ["g"]
    assert calls(file, "") == ["run"]
    assert {file.scopes["f"].names[name].kind for name in ("i", "w", "error", "v", "n")} == {BindingKind.UNKNOWN}


def test_a_callee_is_listed_once_and_cut_if_long() -> None:
    file = py_facts(b"a()\na()\n(" + b"b" * 100 + b" or c)()\n")
    assert calls(file, "") == ["a", "b" * 59 + "…"]


def test_very_many_calls_are_counted() -> None:
    file = py_facts(b"".join(b"f%d()\n" % number for number in range(1200)))
    assert calls(file, "")[-2:] == ["f999", "200 more calls, from f1000"]


def test_many_definitions_of_one_name_have_different_keys() -> None:
    assert "f#5000" in py_facts(b"def f(): ...\n" * 5000).scopes


def test_classes_can_be_read_without_calls() -> None:
    full, lean = py_facts(CODE), py_class_facts(CODE)
    assert set(full.scopes) == set(lean.scopes)
    assert not any(scope.calls for scope in lean.scopes.values())
    assert lean.scopes["A"] == full.scopes["A"]


def test_what_does_not_parse_is_bad_input() -> None:
    with pytest.raises(BadInput, match="line 1"):
        py_facts(b"(")


def expression(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("a", "a"),
        ("a.b(c).d", "a b () d"),
        ("(await a.b()).c", "a b () c"),
        ("(x := A()).b", "A () b"),
        ("'s'.join", "str () join"),
        ("f'{x}'.join", "str () join"),
        ("b''.join", "bytes () join"),
        ("[].append", "list () append"),
        ("{}.get", "dict () get"),
        *((code, "") for code in ("a[0].b", "(a or b).c", "1")),
    ],
)
def test_an_expression_is_followed_as_far_as_it_is_plain(code: str, steps: str) -> None:
    assert chain(expression(code)) == tuple(steps.split())


OPTIONAL = ("'A | None'", "A | None", "None | A", "Optional['A']", "Annotated[A, 'help']", "ClassVar[A | None]")


@pytest.mark.parametrize(
    ("codes", "itself", "steps"),
    [
        (["A", *OPTIONAL], False, ("A",)),
        (["a.B", "'a.B'"], False, ("a", "B")),
        (["type[A]"], True, ("A",)),
        (["Box[A]"], False, ("Box",)),
        (["'list[A]'", "'None'", "a[0][A]"], False, ()),
    ],
)
def test_an_annotation_names_a_class_where_it_is_plain(codes: list[str], itself: bool, steps: tuple[str, ...]) -> None:
    for code in codes:
        assert (code, *annotation_class(expression(code))) == (code, itself, steps)
