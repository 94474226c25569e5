import sysconfig
from pathlib import Path

import pytest

from marid.core.errors import BadInput
from marid.syntax.python.resolve.chains import chain_text
from marid.syntax.python.resolve.fact_reader import py_class_facts, py_facts
from marid.syntax.python.resolve.facts import BindingKind, FileFacts

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


def test_scopes_have_dotted_names() -> None:
    file = py_facts(CODE)
    assert set(file.scopes) == {
        *("", "A", "A.__init__", "A.p", "A.p#2", "A.make", "A.free", "A.alone", "A.__new__"),
        *("f", "f.inner", "f#2"),
    }
    assert file.star_imports == (("a", 0),)
    assert file.scopes["A"].bases == (("Generic",), ("b", "B"), ("c", "()"))
    assert file.scopes["A"].signature == "class A(Generic[T], b.B, c())"
    assert file.scopes["A.p"].is_property
    assert file.scopes["A.p"].returns == ("P",)


def test_a_name_means_its_last_definition_and_no_setter() -> None:
    file = py_facts(CODE)
    assert file.scopes[""].names["f"].chain == ("f#2",)
    assert file.scopes["A"].names["p"].chain == ("A.p",)


def test_first_parameters_are_objects_or_classes() -> None:
    scopes = py_facts(CODE).scopes
    assert scopes["A.__init__"].names["self"].kind is BindingKind.SELF
    assert scopes["A.make"].names["cls"].kind is scopes["A.__new__"].names["cls"].kind is BindingKind.CLS
    assert scopes["A.free"].names["thing"].kind is BindingKind.UNKNOWN
    assert scopes["A.alone"].names == {}


def test_methods_tell_what_attributes_are() -> None:
    attributes = py_facts(CODE).scopes["A"].attributes
    assert attributes["y"].chain == ("y",)
    assert attributes["z"].chain == ("Z", "()")
    assert attributes["z"].scope == "A.__init__"


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


def test_real_code_can_be_read() -> None:
    file = py_facts((Path(sysconfig.get_paths()["stdlib"]) / "argparse.py").read_bytes())
    assert "self._check_value" in calls(file, "ArgumentParser._get_values")


def test_what_does_not_parse_is_bad_input() -> None:
    with pytest.raises(BadInput, match="line 1"):
        py_facts(b"(")
