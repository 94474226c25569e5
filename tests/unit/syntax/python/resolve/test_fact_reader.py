import pytest

from marid.core.errors import BadInput
from marid.syntax.python.resolve.fact_reader import py_class_facts, py_facts
from marid.syntax.python.resolve.facts import BindingKind, FileFacts, chain_text

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
