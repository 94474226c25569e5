"""What the forms write: sections about the project, then one item per file."""

from typing import NamedTuple

from marid.core.context import Level


class Section(NamedTuple):
    """Something beside the files: the tree, a diff, a log. `kind` is its tag, `title` its heading."""

    kind: str
    title: str
    body: bytes
    fence_language: str = ""


class ContextItem(NamedTuple):
    """One file as it will be written. `body` is UTF-8; `spans` are its lines where not all of it is shown."""

    path: str
    body: bytes
    size: int
    modified: float
    encoding: str
    level: Level = Level.FULL
    masked: int = 0
    tokens: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
