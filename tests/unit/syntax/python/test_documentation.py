import ast
import inspect
import sysconfig
from pathlib import Path

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.scopes import all_definitions, statements, suggestion
from marid.syntax.python.source_views import docstring_text, py_class_summary, py_docstring

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


def test_a_class_is_summarized() -> None:
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


def test_a_name_of_no_class_or_of_several_is_bad_input() -> None:
    with pytest.raises(BadInput, match="'free' is a function, not a class"):
        py_class_summary(CODE, "free")
    with pytest.raises(BadInput, match="ambiguous: classes of this name are at lines 28, 29"):
        py_class_summary(CODE, "Twice")
    with pytest.raises(NotFound, match=r"did you mean 'Shop\.Inner"):
        py_class_summary(CODE, "Inner")


DOCSTRINGS = b'''"""Of the file."""
class A:
    """First.

        Indented.
    Last.
    """

    @overload
    def f(self, x: int): ...
    @overload
    def f(self, x: str): ...
    def f(self, x):
        """Does it."""
        def inner():
            "Deep."

    def bare(self): ...

if x:
    def g(): "One."
else:
    def g(): "Two."
'''


@pytest.mark.parametrize(
    ("name", "words"),
    [("module", "Of the file."), ("A", "First.\n\n    Indented.\nLast."), ("A.f", "Does it."), ("A.f.inner", "Deep.")],
)
def test_a_docstring_is_shown_without_its_indentation(name: str, words: str) -> None:
    assert py_docstring(DOCSTRINGS, name) == words


def test_a_name_with_two_docstrings_is_ambiguous() -> None:
    with pytest.raises(BadInput, match=r"ambiguous.* lines 21, 23"):
        py_docstring(DOCSTRINGS, "g")


def test_no_docstring_is_not_found() -> None:
    with pytest.raises(NotFound, match=r"'A\.bare' has no docstring"):
        py_docstring(DOCSTRINGS, "A.bare")
    with pytest.raises(NotFound, match="the file has no docstring"):
        py_docstring(b"", "module")
    with pytest.raises(NotFound, match=r"no 'A\.g' in it"):
        py_docstring(DOCSTRINGS, "A.g")


def test_cleaning_agrees_with_python() -> None:
    for name in ("argparse.py", "typing.py", "tarfile.py"):
        tree = ast.parse((Path(sysconfig.get_paths()["stdlib"]) / name).read_bytes())
        for _, node in all_definitions(tree.body):
            raw = ast.get_docstring(node, clean=False) or ""
            lines = [line.rstrip() for line in inspect.cleandoc(raw).rstrip().split("\n")]
            assert docstring_text(node).split("\n") == lines


def test_long_chains_of_branches_are_no_deep_recursion() -> None:
    body = ast.parse("if x:\n pass\n" + "elif x:\n pass\n" * 1500).body
    assert sum(isinstance(node, ast.Pass) for node in statements(body)) == 1501


def test_a_suggestion_bears_a_huge_name() -> None:
    assert suggestion("x" * 1_000_000, ["y"]) == ""
