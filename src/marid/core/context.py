"""Requests for project context, and their results."""

from enum import Enum
from typing import NamedTuple

from marid.core.errors import BadInput

_MEGABYTE = 1 << 20
_MAX_MEGABYTES = 1 << 50


class OutputFormat(Enum):
    """The format of the output."""

    TEXT = "text"
    MARKDOWN = "markdown"
    XML = "xml"
    JSON = "json"


class ContextView(Enum):
    """What the output shows: the files, or a view of them."""

    CONTENT = "content"
    LIST = "list"
    TREE = "tree"
    STATS = "stats"


class Level(Enum):
    """How much of one file is shown."""

    FULL = "full"
    OUTLINE = "outline"
    NAME = "name"


class SymbolDetail(Enum):
    """How one symbol of a file is shown."""

    FULL = "full"
    SIGNATURE = "signature"
    HIDE = "hide"


class SymbolChoice(NamedTuple):
    """One symbol of one file, chosen by the user."""

    path: str
    name: str
    choice: SymbolDetail


class LevelRule(NamedTuple):
    """Files matching `pattern` are shown at `level`."""

    pattern: str
    level: Level


class FileSelection(NamedTuple):
    """Which files to include. Paths are relative to `base`, or to the common folder of the targets.

    Of what the rules select, only files that match one of `only` are kept, if there are any.
    `origins` has the URL of each target that is a clone, and "" for the others.
    """

    targets: tuple[str, ...] = (".",)
    base: str = ""
    rules: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    config: str = ""
    gitignore: bool = True
    defaults: bool = True
    changed_since: str = ""
    branch: str = ""
    origins: tuple[str, ...] = ()


class RenderOptions(NamedTuple):
    """How to show the files."""

    form: OutputFormat = OutputFormat.TEXT
    views: tuple[ContextView, ...] = (ContextView.CONTENT,)
    null: bool = False
    line_numbers: bool = False
    with_tree: bool = False
    tokens: bool = False
    mask: bool = True
    budget: int | None = None
    levels: tuple[LevelRule, ...] = ()
    symbols: tuple[SymbolChoice, ...] = ()
    diff: str | None = None
    log: int = 0


class ContextRequest(NamedTuple):
    """A whole request. Relative targets are relative to `cwd`.

    Neither `output` nor `redirect`, the file that a shell writes the output to, is ever included in the context.
    """

    cwd: str
    selection: FileSelection = FileSelection()
    render: RenderOptions = RenderOptions()
    max_bytes: int = 100_000_000
    encoding: str = "o200k_base"
    output: str = ""
    redirect: str = ""
    lock: str = ""
    frozen: bool = False


class ContextReport(NamedTuple):
    """The totals of a run. `tokens` is None if they were not counted; `exact` is false if they were estimated."""

    files: int = 0
    bytes: int = 0
    masked: int = 0
    links: int = 0
    special: int = 0
    binaries: int = 0
    problems: int = 0
    tokens: int | None = None
    exact: bool = True


def byte_limit(megabytes: float) -> int:
    """A size limit in bytes. Raises: BadInput for a number that is not a size."""
    if not 0 < megabytes < _MAX_MEGABYTES:
        raise BadInput(f"the size limit must be a number of megabytes above 0, not {megabytes:g}")
    return int(megabytes * _MEGABYTE)
