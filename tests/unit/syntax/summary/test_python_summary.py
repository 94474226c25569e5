import pytest

from marid.core.errors import BadInput
from marid.syntax.summary.python_summary import python_lines

CODE = b'''"""A shop.

More."""
import os, sys
from .a import b
LIMIT = 3
name: str = "x"
class Shop(Base):
    def open(
        self,
        hour: int,
    ) -> None: ...
    class Till: ...
async def main(): ...
if True:
    def other(a, *, b=1): ...
'''


def test_a_python_file_is_told_by_its_imports_classes_functions_and_constants() -> None:
    assert (
        "\n".join(python_lines(CODE))
        == """\
"A shop."
imports: os, sys, .a
class Shop(Base) (Lines 8-13)
  def open(self, hour: int) -> None (Lines 9-12)
  class Till (Lines 13-13)
functions:
  async def main() (Lines 14-14)
  def other(a, *, b=1) (Lines 16-16)
constants: LIMIT
variables: name"""
    )


def test_nothing_and_nonsense() -> None:
    assert list(python_lines(b"print()")) == []
    with pytest.raises(BadInput, match="line 1"):
        list(python_lines(b"("))
