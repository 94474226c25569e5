import ast
import sys
import sysconfig
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.scopes import definitions, statements
from marid.syntax.python.source_views import (
    docstring_text,
    py_class_summary,
    py_docstring,
    py_imports,
    py_outline,
    py_skeleton,
)

LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


def shape(code: str | bytes) -> list[tuple[str, ...]]:
    """Everything that a skeleton keeps."""
    with warnings.catch_warnings(action="ignore"):
        waiting = [("", node) for node in definitions(ast.parse(code).body)]
    found: list[tuple[str, ...]] = []
    while waiting:
        scope, node = waiting.pop()
        marks = [ast.unparse(each) for each in node.decorator_list]
        if isinstance(node, ast.ClassDef):
            parts = [ast.unparse(each) for each in (*node.bases, *(word.value for word in node.keywords))]
            waiting += [(f"{scope}.{node.name}", inner) for inner in definitions(node.body)]
        else:
            parts = [ast.unparse(node.args), ast.unparse(node.returns) if node.returns else ""]
        found.append((type(node).__name__, f"{scope}.{node.name}", docstring_text(node), *marks, *parts))
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(LIBRARY), st.sampled_from([b"\n", b"\r\n"]))
def test_a_skeleton_of_real_code_parses_and_keeps_every_signature_and_docstring(path: Path, end: bytes) -> None:
    code = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end)
    skeleton = py_skeleton(code)
    assert shape(skeleton) == shape(code)
    assert len(skeleton) <= len(code) + 8


@pytest.mark.parametrize(
    ("code", "skeleton"),
    [
        ("", ""),
        ("x = 1\n", "x = 1\n"),
        ("def f(): return 1\n", "def f(): ...\n"),
        ("def f(): return 1  # why\n", "def f(): ...  # why\n"),
        ("def f(): x = 1; return x\n", "def f(): ...\n"),
        ("def f(): 'doc'; return 1\n", "def f(): 'doc'; ...\n"),
        ("def f(): 'doc'\n", "def f(): 'doc'\n"),
        ("def f(): \\\n  return 1\n", "def f(): \\\n  ...\n"),
        ("def f(): \\\n  'doc'; \\\n  return 1\n", "def f(): \\\n  'doc'; ...\n"),
        ("def f():\n  ('doc')\n  return 1\n", "def f():\n  ('doc')\n  ...\n"),
        ("def f():\n  'doc' # why\n  # what\n  return 1\nx", "def f():\n  'doc'\n  ...\nx"),
        ("def f():\n  'doc'\n  return 1", "def f():\n  'doc'\n  ..."),
        ("def f():\n  'doc';\n  return 1", "def f():\n  'doc'; ..."),
        (
            "def f():  # stays\n  # goes\n\n  return 1  # goes\n\n  # goes\n# stays\n",
            "def f():  # stays\n  ...\n# stays\n",
        ),
        (
            "def f(\n  a,  # stays\n  b: int = 2,\n) -> None:\n  pass\n",
            "def f(\n  a,  # stays\n  b: int = 2,\n) -> None:\n  ...\n",
        ),
        ("def f():\r\n\treturn 1\r\n\r\nx = 1\r\n", "def f():\r\n\t...\r\n\r\nx = 1\r\n"),
        ("def f():\r\n\t'd'\r\n\treturn 1\r\n", "def f():\r\n\t'd'\r\n\t...\r\n"),
        ("def f():\n  @(\n    a\n  )\n  def g(): ...\n  return g\n", "def f():\n  ...\n"),
        ("def f():\n  '''a\nb'''\n  return 1\n", "def f():\n  '''a\nb'''\n  ...\n"),
        ("def é(): return 'ü'; 'ö'\ny = 'ä'\n", "def é(): ...\ny = 'ä'\n"),
        ("def f():\n  return 1 \\\n\nx = 1\n", "def f():\n  ...\n\nx = 1\n"),
    ],
)
def test_bodies_become_dots_and_all_else_stays_as_written(code: str, skeleton: str) -> None:
    assert py_skeleton(code.encode()) == skeleton
    assert shape(skeleton) == shape(code)


def test_many_blank_lines_cost_no_more_than_their_number() -> None:
    code = b"def f():\r\n  return 1\r\n" + b"\r\n" * 20_000 + b"x"
    assert py_skeleton(code).startswith("def f():\r\n  ...\r\n")


OUTLINED = b"""\
import os
VERSION, name = 1, 2
a.b = c[0] = 3
(first, *rest) = x = y
typed: int
@one
@two
class Shop(Base):
    LIMIT: int = 1

    @property
    def total(self):
        def hidden(): ...
        local = 1

    async def load(self): ...

    class Inner:
        x = 1

if name:
    def free(): ...
else:
    async def free(): ...
"""

OUTLINE = """\
[Constant] VERSION (Lines 2-2)
[Variable] name (Lines 2-2)
[Variable] first (Lines 4-4)
[Variable] rest (Lines 4-4)
[Variable] x (Lines 4-4)
[Variable] typed (Lines 5-5)
[Class] Shop (Lines 6-19)
  [Constant] LIMIT (Lines 9-9)
  [Method] total (Lines 11-14)
  [Async Method] load (Lines 16-16)
  [Class] Inner (Lines 18-19)
    [Variable] x (Lines 19-19)
[Function] free (Lines 22-22)
[Async Function] free (Lines 24-24)"""


def test_everything_outside_functions_is_listed_with_its_lines() -> None:
    assert py_outline(OUTLINED) == OUTLINE


@pytest.mark.parametrize("change", [(b"\n", b"\r\n"), (b"    ", b"\t")], ids=["crlf", "tabs"])
def test_line_ends_and_tabs_change_nothing(change: tuple[bytes, bytes]) -> None:
    assert py_outline(b"\xef\xbb\xbf" + OUTLINED.replace(*change)) == OUTLINE


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a statement of Python 3.12")
def test_a_type_alias_is_a_variable() -> None:
    assert py_outline(b"type Pair = tuple[int, int]\n") == "[Variable] Pair (Lines 1-1)"


IMPORTS = b"""\
import os, os.path as p
from . import a
from ..b.c import (
    d as e,
    f,
)
class K:
    def m(self):
        if x:
            import json
from g import *
try:
    import h
except ImportError:
    h = None
"""


def test_every_import_is_listed_in_order_with_where_it_stands() -> None:
    assert [(each.line, each.text, each.scope) for each in py_imports(IMPORTS)] == [
        (1, "import os, os.path as p", ""),
        (2, "from . import a", ""),
        (3, "from ..b.c import d as e, f", ""),
        (10, "import json", "K.m"),
        (11, "from g import *", ""),
        (13, "import h", ""),
    ]


def test_modules_keep_their_dots() -> None:
    modules = [module for each in py_imports(IMPORTS) for module in each.modules]
    assert modules == ["os", "os.path", ".", "..b.c", "json", "g", "h"]


SHOP = b'''\
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
        py_class_summary(SHOP, "Shop")
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
        py_class_summary(SHOP, "Shop.Inner")
        == "class Inner(Other) (Lines 25-26)\n\nMethods:\n  def f(self) (Lines 26-26)"
    )
    assert py_class_summary(SHOP, "Empty") == "class Empty (Lines 31-31)"


def test_long_values_are_cut() -> None:
    line = py_class_summary(b"class A:\n    x = '" + b"y" * 500 + b"'\n", "A").split("\n")[-1]
    assert line.endswith("… (Lines 2-2)")
    assert len(line) < 230


def test_a_name_of_no_class_or_of_several_is_bad_input() -> None:
    with pytest.raises(BadInput, match="'free' is a function, not a class"):
        py_class_summary(SHOP, "free")
    with pytest.raises(BadInput, match="ambiguous: classes of this name are at lines 28, 29"):
        py_class_summary(SHOP, "Twice")
    with pytest.raises(NotFound, match=r"did you mean 'Shop\.Inner"):
        py_class_summary(SHOP, "Inner")


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


def test_long_chains_of_branches_are_no_deep_recursion() -> None:
    body = ast.parse("if x:\n pass\n" + "elif x:\n pass\n" * 1500).body
    assert sum(isinstance(node, ast.Pass) for node in statements(body)) == 1501
