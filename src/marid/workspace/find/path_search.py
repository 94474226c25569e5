"""Find the paths below a folder that match a glob."""

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from marid.workspace.find.path_pattern import PathPattern
from marid.workspace.guard.api import OpenFolder


class PathSearchLimits(NamedTuple):
    """The most paths to find, and the timeout in seconds."""

    max_paths: int
    timeout: float = 2.0


class FoundPaths(NamedTuple):
    """Matching paths; folders end with a slash. `has_more`: the limit was reached."""

    paths: list[str]
    has_more: bool = False
    timed_out: bool = False


def find_paths(
    folders: Iterable[OpenFolder], pattern: PathPattern, limits: PathSearchLimits, *, files_only: bool
) -> FoundPaths:
    """The paths of a walk that match, sorted."""
    deadline = monotonic() + limits.timeout
    found: list[str] = []
    for path in _iter_matches(folders, pattern, files_only=files_only):
        if path is None:
            if monotonic() > deadline:
                return FoundPaths(sorted(found), timed_out=True)
        elif len(found) == limits.max_paths:
            return FoundPaths(sorted(found), has_more=True)
        else:
            found.append(path)
    return FoundPaths(sorted(found))


def _iter_matches(folders: Iterable[OpenFolder], pattern: PathPattern, *, files_only: bool) -> Iterator[str | None]:
    """Each matching path, and None before each folder, to check the time."""
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
