"""Whether a Python file parses."""

import re
from typing import NamedTuple

from marid.core.errors import BadInput
from marid.syntax.python.source import read_source

_LOCATION = re.compile(r"line (\d+)(?:, column (\d+))?: ")


class SyntaxProblem(NamedTuple):
    """Where Python stops understanding, and why; column 0 when it does not say."""

    line: int
    column: int
    message: str


def py_syntax_problem(data: bytes) -> SyntaxProblem | None:
    """The first syntax error, or None.

    Raises:
        Exhausted: the file is nested too deeply to tell.
    """
    try:
        read_source(data)
    except BadInput as error:
        found = _LOCATION.match(str(error))
        words = str(error)[found.end() :] if found else str(error)
        return SyntaxProblem(int(found[1]) if found else 1, int(found[2] or 0) if found else 0, words)
    return None
