"""What this face serves: a tool by its name, its words, its schema and what it does."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

Arguments = Mapping[str, object]
CheckAlive = Callable[[], None]


class FaceTool(NamedTuple):
    """One tool, known to no protocol. All of them read only, until others say what they do.

    `call` blocks and gives the text of the result. It runs `alive` now and then, which does not return when nobody
    waits for that text any more. Raises: the families of `marid.core.errors`, with words for whoever called.
    """

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    call: Callable[[Arguments, CheckAlive], str]


def log_line(line: str) -> None:
    """A line for the person who runs the server, on stderr: stdout is the wire."""
    # Some clients close it.
    with suppress(OSError):
        sys.stderr.write(f"marid: {line}\n")
        sys.stderr.flush()
