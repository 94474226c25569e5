"""The paths below a folder that a glob matches."""

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from marid.workspace.find.path_pattern import PathPattern
from marid.workspace.guard.api import OpenFolder


class PathSearchLimits(NamedTuple):
    """When to stop: so many paths, so many seconds."""

    max_paths: int
    timeout: float = 2.0


class FoundPaths(NamedTuple):
    """What was found; folders end with a slash. `more`: there is at least one further; `late`: time ran out."""

    paths: list[str]
    has_more: bool = False
    timed_out: bool = False


def find_paths(
    folders: Iterable[OpenFolder], pattern: PathPattern, budget: PathSearchLimits, *, files_only: bool
) -> FoundPaths:
    """The paths of a walk that the pattern matches, sorted."""
    until = monotonic() + budget.timeout
    found: list[str] = []
    for path in _iter_matches(folders, pattern, files_only=files_only):
        if path is None:
            if monotonic() > until:
                return FoundPaths(sorted(found), timed_out=True)
        elif len(found) == budget.max_paths:
            return FoundPaths(sorted(found), has_more=True)
        else:
            found.append(path)
    return FoundPaths(sorted(found))


def _iter_matches(folders: Iterable[OpenFolder], pattern: PathPattern, *, files_only: bool) -> Iterator[str | None]:
    """Each matching path, and None between folders, to look at the time."""
    states = {"": pattern.start_states()}
    for folder in folders:
        yield None
        here = states.pop(folder.path, None)
        if not here:
            continue
        prefix = f"{folder.path}/" if folder.path else ""
        if not pattern.folders_only:
            for name in folder.names:
                if pattern.is_match(pattern.advance(here, name)):
                    yield prefix + name
        for name in folder.folders:
            below = pattern.advance(here, name)
            states[prefix + name] = below
            if not files_only and pattern.is_match(below):
                yield f"{prefix}{name}/"
