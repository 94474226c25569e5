import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.class_summary import py_class_summary

CODE = b'''\
@frozen
class Shop(Base, metaclass=M):
    """A shop.

    With more words.
    """

    limit: int = 3
    a = b = {
        1: 2,
    }

    def __init__(
        self,
        name: str,
    ) -> None:
        """Opens it.

        At eight.
        """

    @property
    async def total(self): ...

    class Inner(Other):
        def f(self): ...

class Twice: ...
class Twice: ...
def free(): ...
class Empty: pass
'''


def test_a_class_is_told_in_short() -> None:
    assert (
        py_class_summary(CODE, "Shop")
        == '''\
@frozen
class Shop(Base, metaclass=M) (Lines 1-26)
"""
A shop.

With more words.
"""

Variables:
  limit: int = 3 (Lines 8-8)
  a = b = { 1: 2, } (Lines 9-11)

Methods:
  def __init__(self, name: str) -> None (Lines 13-20)
    Opens it.
  @property
  async def total(self) (Lines 22-23)

Classes:
  class Inner(Other) (Lines 25-26)'''
    )


def test_an_inner_and_an_empty_class_have_less_to_tell() -> None:
    assert (
        py_class_summary(CODE, "Shop.Inner")
        == "class Inner(Other) (Lines 25-26)\n\nMethods:\n  def f(self) (Lines 26-26)"
    )
    assert py_class_summary(CODE, "Empty") == "class Empty (Lines 31-31)"


def test_long_values_are_cut() -> None:
    line = py_class_summary(b"class A:\n    x = '" + b"y" * 500 + b"'\n", "A").split("\n")[-1]
    assert line.endswith("… (Lines 2-2)")
    assert len(line) < 230


def test_what_is_no_class_or_several_is_bad_input() -> None:
    with pytest.raises(BadInput, match="'free' is a function, not a class"):
        py_class_summary(CODE, "free")
    with pytest.raises(BadInput, match="ambiguous: classes of this name are at lines 28, 29"):
        py_class_summary(CODE, "Twice")
    with pytest.raises(NotFound, match=r"did you mean Shop\.Inner"):
        py_class_summary(CODE, "Inner")
