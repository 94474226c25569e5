"""Whether a Python file parses."""

import re
from typing import NamedTuple

from marid.core.errors import BadInput
from marid.syntax.pyview_source import read

_PLACE = re.compile(r"line (\d+)(?:, column (\d+))?: ")


class Flaw(NamedTuple):
    """Where Python stops understanding, and why; column 0 when it does not say."""

    line: int
    column: int
    words: str


def py_flaw(data: bytes) -> Flaw | None:
    """The first syntax error, or None.

    Raises:
        Exhausted: the file is nested too deeply to tell.
    """
    try:
        read(data)
    except BadInput as error:
        found = _PLACE.match(str(error))
        words = str(error)[found.end() :] if found else str(error)
        return Flaw(int(found[1]) if found else 1, int(found[2] or 0) if found else 0, words)
    return None
