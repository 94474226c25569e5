"""Finding files by name."""

import posixpath
from typing import Annotated, cast

from marid.core.errors import BadInput, NotFound
from marid.core.policy.policy import Effect
from marid.text.display import quote_path
from marid.toolkit.handles import FolderRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import check_at_least, with_path_hints
from marid.workspace.find.path_pattern import PathPattern, parse_path_pattern, split_literal_prefix
from marid.workspace.find.path_search import FoundPaths, PathSearchLimits, find_paths

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
    parsed = parse_path_pattern(pattern)
    found = _GlobSearch(path, pattern, parsed).run(PathSearchLimits(_MAX_PATHS), hidden=True)
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
    parsed = parse_path_pattern(pattern, anywhere=True)
    finding = _GlobSearch(path, pattern, parsed, files_only=True)
    found = finding.run(PathSearchLimits(max_results), hidden=parsed.names_hidden)
    return _paths_result(found, f"(more than {max_results:,} files: narrow the pattern or raise max_results)")


class _GlobSearch:
    """A glob over a folder. The folders that the pattern begins with are where the walk begins: they were named."""

    def __init__(self, folder: FolderRef, text: str, parsed: PathPattern, *, files_only: bool = False) -> None:
        self._folder = folder
        self._files_only = files_only
        self._below, rest = split_literal_prefix(text)
        self._below = posixpath.normpath(self._below) if self._below else ""
        self._pattern = parse_path_pattern(rest) if self._below else parsed

    def run(self, budget: PathSearchLimits, *, hidden: bool) -> FoundPaths:
        """The paths relative to the folder. Raises: NotFound, Refused, BadInput when it is no folder."""
        self._check_folder()
        found = self._walk(budget, hidden=hidden, ignored=False)
        if not found.paths and self._pattern.names_folders:
            found = self._walk(budget, hidden=hidden, ignored=True)
        prefix = f"{self._below}/" if self._below not in ("", ".") else ""
        return found._replace(paths=[prefix + path for path in found.paths])

    def _check_folder(self) -> None:
        with with_path_hints(self._folder):
            if not self._folder.path.is_folder():
                raise BadInput(f"'{quote_path(self._folder.raw)}' is a file, not a folder")

    def _walk(self, budget: PathSearchLimits, *, hidden: bool, ignored: bool) -> FoundPaths:
        start = self._folder.path.below(self._below) if self._below else self._folder.path
        try:
            walk = start.walk(ignored=ignored, hidden=hidden)
            return find_paths(walk, self._pattern, budget, files_only=self._files_only)
        except (NotFound, BadInput):
            return FoundPaths([])  # what the pattern begins with is not there, or no folder


def _paths_result(paths: FoundPaths, more: str) -> ToolOutput:
    lines = [quote_path(path) for path in paths.paths]
    if paths.has_more:
        lines.append(more)
    if paths.timed_out:
        lines.append("(stopped: it took too long; name a folder below)")
    values = {"count": len(paths.paths), "truncated": paths.has_more or paths.timed_out}
    return ToolOutput(text="\n".join(lines) or "Nothing matches the pattern", values=values)
