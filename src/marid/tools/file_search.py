"""Finding files by name."""

import posixpath
from contextlib import suppress
from typing import Annotated, cast

from marid.core.errors import BadInput, NotFound
from marid.core.policy.policy import Effect
from marid.text.display import quote_path
from marid.toolkit.handles import FolderRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import check_at_least, with_path_hints
from marid.workspace.find.path_search import (
    FoundPaths,
    PathSearchLimits,
    find_paths,
    parse_path_pattern,
    split_literal_prefix,
)

_MAX_PATHS = 1_000
_HERE = cast(FolderRef, ".")  # parsed like a path that was given


@tool(family="files", effect=Effect.READ)
def search_files(
    path: Annotated[FolderRef, "the folder"],
    pattern: Annotated[str, "such as *.py, **/test_*.py, src/**/*.{ts,tsx}"],
) -> ToolOutput:
    """Find files and folders by a glob pattern, relative to a folder.

    `*` stays within a name and `**` stands for any number of folders: `*.py` finds only what is directly in the
    folder, `**/*.py` all. Folders end with a slash. What ignore files and the built-in rules exclude is left out,
    unless the pattern names it. Patterns that lead out of the folder are errors.
    """
    found = _glob(path, pattern, _MAX_PATHS, files_only=False)
    return _paths_result(found, f"(more than {_MAX_PATHS:,} paths: narrow the pattern or name a folder below)")


@tool(family="files", effect=Effect.READ)
def glob_files(
    pattern: Annotated[str, "such as *.py, **/test_*.py, src/**/*.{ts,tsx}"],
    path: Annotated[FolderRef, "the folder; the paths found are relative to it"] = _HERE,
    max_results: Annotated[int, "how many paths at most"] = 100,
) -> ToolOutput:
    """Find files by a glob pattern, in a folder and all below it.

    A pattern without a slash matches names in every folder; `**` stands for any number of folders. Hidden files and
    what ignore files and the built-in rules exclude are left out, unless the pattern names them.
    """
    check_at_least(1, max_results=max_results)
    found = _glob(path, pattern, max_results, files_only=True)
    return _paths_result(found, f"(more than {max_results:,} files: narrow the pattern or raise max_results)")


def _glob(folder: FolderRef, text: str, max_paths: int, *, files_only: bool) -> FoundPaths:
    """The paths relative to the folder. With `files_only`, no folders, and hidden files only if the pattern names them.

    Raises: NotFound, Refused, BadInput if it is no folder.
    """
    pattern = parse_path_pattern(text, anywhere=files_only)
    hidden, limits = not files_only or pattern.names_hidden, PathSearchLimits(max_paths)
    with with_path_hints(folder):
        if not folder.path.is_folder():
            raise BadInput(f"'{quote_path(folder.raw)}' is a file, not a folder")
    start, prefix = folder.path, ""
    below, rest = split_literal_prefix(text)
    if below:  # the folders that the pattern begins with are where the walk begins: they were named
        below, pattern = posixpath.normpath(below), parse_path_pattern(rest)
        start, prefix = start.below(below), "" if below == "." else f"{below}/"
    found = FoundPaths([])
    for ignored in (False, True) if pattern.names_folders else (False,):
        with suppress(NotFound, BadInput):  # what the pattern begins with is not there, or no folder
            found = find_paths(start.walk(ignored=ignored, hidden=hidden), pattern, limits, files_only=files_only)
        if found.paths:
            break
    return found._replace(paths=[prefix + path for path in found.paths])


def _paths_result(paths: FoundPaths, more: str) -> ToolOutput:
    lines = [quote_path(path) for path in paths.paths]
    if paths.has_more:
        lines.append(more)
    if paths.timed_out:
        lines.append("(stopped: it took too long; name a folder below)")
    values = {"count": len(paths.paths), "truncated": paths.has_more or paths.timed_out}
    return ToolOutput(text="\n".join(lines) or "Nothing matches the pattern", values=values)
