"""Finding the files that the rules select, folder by folder, in a stable order."""

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from marid.core.errors import BadInput, NotFound, Refused
from marid.workspace.defaults import default_text
from marid.workspace.descent import Descent, Loop
from marid.workspace.ignores import (
    CONTEXT_FILE,
    IGNORE_FILES,
    UserFiles,
    find_repository,
    ignore_sources,
    near_sources,
    repository_at,
    repository_sources,
)
from marid.workspace.layers import Source
from marid.workspace.rules import CONFIG, DEFAULT, INLINE, Rule, parse_gitignore
from marid.workspace.stack import Decision, Pool, Stack

_RULE_FILES = frozenset((CONTEXT_FILE, *IGNORE_FILES, ".git"))


class Visit(NamedTuple):
    """A folder that is still to be listed."""

    depth: int
    name: str
    path: str
    stack: Stack


class Folder(NamedTuple):
    """A folder below the top, and the selected files directly in it, by name."""

    path: str
    names: list[str]


class Ruling(NamedTuple):
    """Everything that decides which files are in, beside the rule files that lie in the tree."""

    inline: tuple[Rule, ...] = ()
    config: tuple[Rule, ...] = ()
    config_origin: str = ""
    ignores: bool = True
    defaults: bool = True
    user: UserFiles = UserFiles()


class Tally:
    """What a walk passed over."""

    def __init__(self) -> None:
        self.links = 0
        self.special = 0


OnProblem = Callable[[str, str], None]


def _no_report(_path: str, _reason: str) -> None:
    """Nobody listens."""


class Walker:
    """Walks below `top` by one ruling. `on_problem` hears of folders that could not be read."""

    def __init__(
        self,
        top: str,
        ruling: Ruling,
        on_problem: OnProblem = _no_report,
        reasons: dict[str, Decision] | None = None,
    ) -> None:
        self.top = top
        self.reasons = reasons
        self.tally = Tally()
        self._ruling = ruling
        self._on_problem = on_problem
        self._pool = Pool()

    def start(self, target: str = "") -> Stack:
        """The stack in the folder `target` below the top, which the user named: no rule above can exclude it."""
        ruling = self._ruling
        sources = [
            (INLINE, ruling.inline, "--rule"),
            (CONFIG, ruling.config, ruling.config_origin),
            (DEFAULT, parse_gitignore(default_text()) if ruling.defaults else (), "built-in defaults"),
        ]
        repository = find_repository(self.top, ruling.user)
        outside = repository_sources(repository) if repository and ruling.ignores else []
        stack = self._pool.stack(tuple(source.top() for source in outside))
        at = repository.top if repository else self.top
        for name in _steps(at, self.top):
            stack = self._arrive(stack, at, os.path.relpath(at, self.top)).passed(name)
            at = os.path.join(at, name)
        own = [Source(rules, rank=rank, origin=origin) for rank, rules, origin in sources if rules]
        layers = [*stack.layers, *(source.top() for source in own if source.rank <= stack.floor.rank)]
        layers.sort(key=lambda layer: layer.source.rank)  # stable: nearer ones stay in front
        stack = self._pool.stack(tuple(layers), stack.floor)
        for name in target.split("/") if target else ():
            stack = self._arrive(stack, at, os.path.relpath(at, self.top)).passed(name)
            at = os.path.join(at, name)
        return stack

    def _arrive(self, stack: Stack, path: str, shown: str) -> Stack:
        """`stack` with the rule files of a folder that is named by its path, above or on the way to the target."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return stack
        try:
            names = [name for name in _RULE_FILES if os.path.lexists(os.path.join(path, name))]
            return self._enriched(stack, names, fd, "" if shown == "." else shown)
        finally:
            os.close(fd)

    def _enriched(self, stack: Stack, names: list[str], fd: int, path: str) -> Stack:
        """`stack` with the rule files among `names`."""
        near = near_sources(names, fd, path)
        if not self._ruling.ignores:
            return stack.with_sources(near, [], repository=False) if near else stack
        inner = None
        if ".git" in names and path and path.partition("/")[0] != "..":
            inner = repository_at(os.path.join(self.top, path), self._ruling.user)
        fold = inner.ignore_case if inner else any(layer.source.fold for layer in stack.layers)
        ignores = ignore_sources(names, fd, path, fold=fold) + (repository_sources(inner) if inner else [])
        if not near and not ignores and inner is None:
            return stack
        return stack.with_sources(near, ignores, repository=inner is not None)

    def walk(self, target: str = "") -> Iterator[Folder]:
        """The selected files of `target` (a folder relative to the top) and below, each folder before its sub-folders.

        Raises: NotFound, BadInput or Refused when the target itself cannot be listed.
        """
        stack = self.start(target)
        parts = target.split("/") if target else []
        with _opened(self.top) as descent:
            try:
                fd = descent.follow(parts)
                entries = self._list(fd)
            except OSError as error:
                raise unreadable(os.path.join(self.top, target) if target else self.top, error) from error
            todo = [Visit(len(parts), parts[-1] if parts else "", target, stack)]
            while todo:
                visit = todo.pop()
                if entries is None:
                    try:
                        fd = descent.enter(visit.depth, visit.name)
                        entries = self._list(fd)
                    except OSError as error:
                        self._on_problem(visit.path, reason_of(error))
                        continue
                files, folders = entries
                entries = None
                stack = self._ruled(visit, files, folders, fd)
                files.sort()
                if kept := stack.select(files):
                    if self.reasons is not None:
                        prefix = f"{visit.path}/" if visit.path else ""
                        self.reasons |= {prefix + name: stack.judge(name, folder=False) for name in kept}
                    yield Folder(visit.path, kept)
                todo += _opened_below(visit, stack, folders)

    def _ruled(self, visit: "Visit", files: list[str], folders: list[str], fd: int) -> Stack:
        """The folder's stack with its own rule files; those of an excluded folder do not count."""
        if not visit.stack.floor.include or (_RULE_FILES.isdisjoint(files) and ".git" not in folders):
            return visit.stack
        return self._enriched(visit.stack, [*files, *(name for name in folders if name == ".git")], fd, visit.path)

    def arrived(self, stack: Stack, path: str) -> Stack:
        """`stack` with the rule files of the folder `path` below the top."""
        return self._arrive(stack, os.path.join(self.top, path), path or ".") if stack.floor.include else stack

    def _list(self, fd: int) -> tuple[list[str], list[str]]:
        """The files and the folders in an open folder; links and special files are only counted."""
        files: list[str] = []
        folders: list[str] = []
        with os.scandir(fd) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_symlink():
                    self.tally.links += 1
                else:
                    self.tally.special += 1
        return files, folders


def _opened_below(visit: Visit, stack: Stack, folders: list[str]) -> Iterator[Visit]:
    """The sub-folders in which something may be selected, last name first, as a stack wants them."""
    if not folders:
        return
    folders.sort(reverse=True)
    hot = set(stack.hot(folders, folders=True))
    prefix = f"{visit.path}/" if visit.path else ""
    for name in folders:
        below = stack.below(name, stack.judge(name, folder=True) if name in hot else stack.floor)
        if below.open:
            yield Visit(visit.depth + 1, name, prefix + name, below)


def _steps(start: str, end: str) -> list[str]:
    """The folders on the way down from `start` to `end`."""
    below = os.path.relpath(end, start)
    return [] if below == "." else below.split("/")


def _opened(top: str) -> Descent:
    try:
        return Descent(top)
    except OSError as error:
        raise unreadable(top, error) from error


def unreadable(path: str, error: OSError) -> NotFound | BadInput | Refused:
    """The error of our families for a folder that the user named and that cannot be listed."""
    if isinstance(error, FileNotFoundError):
        return NotFound(f"'{path}' is not there")
    if isinstance(error, NotADirectoryError):
        return BadInput(f"'{path}' is not a folder")
    return Refused(f"'{path}' cannot be read: {reason_of(error)}")


def reason_of(error: OSError) -> str:
    """Why a file or folder was passed over, in words."""
    if isinstance(error, Loop):
        return "it is mounted inside itself"
    if isinstance(error, PermissionError):
        return "no permission"
    if isinstance(error, FileNotFoundError):
        return "it vanished"
    return (error.strerror or "it cannot be read").lower()
