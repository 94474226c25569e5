import ast
import sys
import sysconfig
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marid.syntax.python.scopes import definitions
from marid.syntax.python.source_views import docstring_text, py_outline, py_skeleton

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


def test_a_mark_and_a_declared_encoding_are_understood() -> None:
    assert py_skeleton(b"\xef\xbb\xbfdef f():\n  return 1\n") == "def f():\n  ...\n"
    assert py_skeleton(b"# coding: latin-1\ndef f(x='\xe9'):\n  return '\xe9'\n") == (
        "# coding: latin-1\ndef f(x='é'):\n  ...\n"
    )


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
