import ast
import sys

import pytest

from marid.core.errors import BadInput
from marid.syntax.python.outline import py_outline
from marid.syntax.python.scopes import target_names

CODE = b"""\
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
    assert py_outline(CODE) == OUTLINE


@pytest.mark.parametrize("change", [(b"\n", b"\r\n"), (b"    ", b"\t")], ids=["crlf", "tabs"])
def test_line_ends_and_tabs_change_nothing(change: tuple[bytes, bytes]) -> None:
    assert py_outline(b"\xef\xbb\xbf" + CODE.replace(*change)) == OUTLINE


def test_nothing_is_listed_of_an_empty_file() -> None:
    assert py_outline(b"") == py_outline(b"# nothing\nprint()\n") == ""


def test_a_broken_file_is_bad_input() -> None:
    with pytest.raises(BadInput, match="line 1"):
        py_outline(b"def")


def test_targets_that_are_no_names_are_left_out() -> None:
    target = ast.parse("[a, (b.c, d[0]), *e] = f").body[0]
    assert isinstance(target, ast.Assign)
    assert list(target_names(target.targets[0])) == ["a", "e"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a statement of Python 3.12")
def test_a_type_alias_is_a_variable() -> None:
    assert py_outline(b"type Pair = tuple[int, int]\n") == "[Variable] Pair (Lines 1-1)"
