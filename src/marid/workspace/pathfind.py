"""The paths below a folder that a glob matches."""

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from marid.workspace.guard import OpenFolder
from marid.workspace.pathglob import PathPattern


class Budget(NamedTuple):
    """When to stop: so many paths, so many seconds."""

    paths: int
    seconds: float = 2.0


class Paths(NamedTuple):
    """What was found; folders end with a slash. `more`: there is at least one further; `late`: time ran out."""

    found: list[str]
    more: bool = False
    late: bool = False


def find_paths(folders: Iterable[OpenFolder], pattern: PathPattern, budget: Budget, *, files_only: bool) -> Paths:
    """The paths of a walk that the pattern matches, sorted."""
    until = monotonic() + budget.seconds
    found: list[str] = []
    for path in _matched(folders, pattern, files_only=files_only):
        if path is None:
            if monotonic() > until:
                return Paths(sorted(found), late=True)
        elif len(found) == budget.paths:
            return Paths(sorted(found), more=True)
        else:
            found.append(path)
    return Paths(sorted(found))


def _matched(folders: Iterable[OpenFolder], pattern: PathPattern, *, files_only: bool) -> Iterator[str | None]:
    """Each matching path, and None between folders, to look at the time."""
    states = {"": pattern.start()}
    for folder in folders:
        yield None
        here = states.pop(folder.path, None)
        if not here:
            continue
        prefix = f"{folder.path}/" if folder.path else ""
        if not pattern.folders_only:
            for name in folder.names:
                if pattern.ends(pattern.enter(here, name)):
                    yield prefix + name
        for name in folder.folders:
            below = pattern.enter(here, name)
            states[prefix + name] = below
            if not files_only and pattern.ends(below):
                yield f"{prefix}{name}/"
