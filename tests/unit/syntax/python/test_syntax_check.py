import pytest

from marid.core.errors import Exhausted
from marid.syntax.python.syntax_check import SyntaxProblem, py_syntax_problem


def test_a_file_that_parses_has_no_flaw() -> None:
    assert py_syntax_problem(b"") is py_syntax_problem(b"async def f(): await x\n") is None


@pytest.mark.parametrize(
    ("code", "line", "column"), [(b"a\nb = = c\n", 2, 5), (b"x = (\n", 1, 5), (b"a\n'\xff'\n", 2, 0), (b"a\n\0", 2, 0)]
)
def test_a_flaw_has_its_place(code: bytes, line: int, column: int) -> None:
    flaw = py_syntax_problem(code)
    assert isinstance(flaw, SyntaxProblem)
    assert (flaw.line, flaw.column) == (line, column)
    assert flaw.message
    assert not flaw.message.startswith("line")


def test_what_is_too_deep_to_tell_is_no_flaw() -> None:
    with pytest.raises(Exhausted):
        py_syntax_problem(b"(" * 1000)
