import ast
import inspect
import sysconfig
from pathlib import Path

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.docstrings import docstring_text, py_docstring
from marid.syntax.python.scopes import all_definitions

CODE = b'''"""Of the file."""
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
    [
        ("module", "Of the file."),
        ("A", "First.\n\n    Indented.\nLast."),
        ("A.f", "Does it."),
        ("A.f.inner", "Deep."),
    ],
)
def test_a_docstring_is_shown_without_its_indentation(name: str, words: str) -> None:
    assert py_docstring(CODE, name) == words


def test_a_name_with_two_docstrings_is_ambiguous() -> None:
    with pytest.raises(BadInput, match=r"ambiguous.* lines 21, 23"):
        py_docstring(CODE, "g")


def test_no_docstring_is_not_found() -> None:
    with pytest.raises(NotFound, match=r"'A\.bare' has no docstring"):
        py_docstring(CODE, "A.bare")
    with pytest.raises(NotFound, match="the file has no docstring"):
        py_docstring(b"", "module")
    with pytest.raises(NotFound, match=r"no 'A\.g' in it"):
        py_docstring(CODE, "A.g")


def test_cleaning_agrees_with_python() -> None:
    for name in ("argparse.py", "typing.py", "tarfile.py"):
        tree = ast.parse((Path(sysconfig.get_paths()["stdlib"]) / name).read_bytes())
        for _, node in all_definitions(tree.body):
            raw = ast.get_docstring(node, clean=False) or ""
            lines = [line.rstrip() for line in inspect.cleandoc(raw).rstrip().split("\n")]
            assert docstring_text(node).split("\n") == lines
