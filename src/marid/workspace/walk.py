"""Find the files that the rules select, folder by folder, in a stable order."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from marid.core.errors import BadInput, NotFound, Refused
from marid.text.display import quote_path
from marid.workspace.dirfd_walk import DirfdWalk, MountLoop
from marid.workspace.rules.defaults import default_gitignore
from marid.workspace.rules.ignore_files import (
    CONTEXT_FILE,
    IGNORE_FILES,
    UserGitFiles,
    context_sources,
    find_repository,
    ignore_sources,
    repository_at,
    repository_sources,
)
from marid.workspace.rules.parse import CONFIG, DEFAULT, INLINE, PathRule, parse_gitignore
from marid.workspace.rules.rule_stack import Decision, RuleSource, RuleStack, RuleStackPool

_RULE_FILES = frozenset((CONTEXT_FILE, *IGNORE_FILES, ".git"))


class Visit(NamedTuple):
    """A folder still to be listed."""

    depth: int
    name: str
    path: str
    stack: RuleStack


class Folder(NamedTuple):
    """A folder below the top, and the selected files in it, sorted."""

    path: str
    names: list[str]


class FolderListing(NamedTuple):
    """The names in one folder. `rules` are rule files, and `.git`."""

    files: list[str]
    folders: list[str]
    links: list[str]
    rules: list[str]
    special: int = 0


ListFolder: TypeAlias = Callable[[int], FolderListing]


class FolderAccess:
    """How a walk and a reader open and list folders. This one is for the user, who may read everything."""

    is_protected: Callable[[os.stat_result], bool] | None = None
    """Whether an open file must not be read."""

    def open(self, top: str) -> DirfdWalk:
        """A walk from the folder `top`. Raises: NotFound, BadInput, Refused."""
        try:
            return DirfdWalk(top)
        except OSError as error:
            raise unreadable_error(top, error) from error

    def list(self, fd: int) -> FolderListing:
        """List an open folder, unsorted. Raises: OSError."""
        return list_folder(fd)


USER_ACCESS = FolderAccess()


# An open folder of a walk: path, selected files, folders that will be visited, links, descriptor. A plain tuple for the
# hot loop: making a NamedTuple takes as long as listing the folder.
WalkStep: TypeAlias = tuple[str, list[str], list[Visit], list[str], int]


class SelectionRules(NamedTuple):
    """What decides which files are selected, apart from the rule files in the tree."""

    inline: tuple[PathRule, ...] = ()
    config: tuple[PathRule, ...] = ()
    config_origin: str = ""
    ignores: bool = True
    defaults: bool = True
    user_git_files: UserGitFiles = UserGitFiles()
    context_files: bool = True
    only: tuple[PathRule, ...] = ()


OnProblem = Callable[[str, str], None]


def ignore_problem(_path: str, _reason: str) -> None:
    """For walks whose problems are reported elsewhere."""


class Walker:
    """Walks below `top`; folders that cannot be read go to `on_problem`, the decisions on files to `reasons`."""

    def __init__(
        self,
        top: str,
        rules: SelectionRules,
        on_problem: OnProblem = ignore_problem,
        reasons: dict[str, Decision] | None = None,
        access: FolderAccess = USER_ACCESS,
    ) -> None:
        self.top = top
        self.access = access
        self.reasons = reasons
        self.skipped_links = 0
        self.skipped_special_files = 0
        self._rules = rules
        self._on_problem = on_problem
        self._pool = RuleStackPool()

    def start_stack(self, target: str = "") -> RuleStack:
        """The stack in the folder `target` below the top; the user named it, so no rule above excludes it."""
        rules = self._rules
        sources = [
            (INLINE, rules.inline, "--rule"),
            (CONFIG, rules.config, rules.config_origin),
            (DEFAULT, _default_rules() if rules.defaults else (), "built-in defaults"),
        ]
        repository = find_repository(self.top, rules.user_git_files)
        outside = repository_sources(repository) if repository and rules.ignores else []
        stack = self._pool.get_stack(tuple(source.top_layer() for source in outside))
        stack = self._enter_named(stack, repository.top if repository else self.top, self.top)
        own = [RuleSource(found, rank=rank, origin=origin) for rank, found, origin in sources if found]
        layers = [*stack.layers, *(source.top_layer() for source in own if source.rank <= stack.fallback.rank)]
        layers.sort(key=lambda layer: layer.source.rank)  # stable: nearer sources stay first
        stack = self._pool.get_stack(tuple(layers), stack.fallback)
        return self._enter_named(stack, self.top, os.path.join(self.top, target) if target else self.top)

    def _enter_named(self, stack: RuleStack, start: str, end: str) -> RuleStack:
        """The stack at `end`, whose folders below `start` the user named."""
        below = os.path.relpath(end, start)
        for name in below.split("/") if below != "." else ():
            stack = self._enter_by_path(stack, start, os.path.relpath(start, self.top)).enter_named(name)
            start = os.path.join(start, name)
        return stack

    def _enter_by_path(self, stack: RuleStack, path: str, shown: str) -> RuleStack:
        """`stack` with the rule files of a folder above the target, opened by its path."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return stack
        try:
            names = [name for name in _RULE_FILES if os.path.lexists(os.path.join(path, name))]
            return self._add_rule_files(stack, names, fd, "" if shown == "." else shown)
        finally:
            os.close(fd)

    def _add_rule_files(self, stack: RuleStack, names: list[str], fd: int, path: str) -> RuleStack:
        """`stack` with the rule files among `names`."""
        near = context_sources(names, fd, path) if self._rules.context_files else []
        if not self._rules.ignores:
            return stack.with_sources(near, [], repository=False) if near else stack
        inner = None
        if ".git" in names and path and path.partition("/")[0] != "..":
            inner = repository_at(os.path.join(self.top, path), self._rules.user_git_files)
        fold = inner.ignore_case if inner else any(layer.source.ignore_case for layer in stack.layers)
        ignores = ignore_sources(names, fd, path, fold=fold) + (repository_sources(inner) if inner else [])
        if not near and not ignores and inner is None:
            return stack
        return stack.with_sources(near, ignores, repository=inner is not None)

    def walk(self, target: str = "") -> Iterator[Folder]:
        """The selected files in `target`, a folder relative to the top, and below; each folder before its sub-folders.

        Raises: NotFound, BadInput or Refused if `target` cannot be listed.
        """
        stack = self.start_stack(target)
        parts = target.split("/") if target else []
        with self.access.open(self.top) as walk:
            try:
                fd = walk.follow(parts)
                found = self._list(fd)
            except OSError as error:
                raise unreadable_error(os.path.join(self.top, target) if target else self.top, error) from error
            start = Visit(len(parts), parts[-1] if parts else "", target, stack)
            for path, names, _, _, _ in self._descend(walk, start, fd, found, self._list):
                if names:
                    yield Folder(path, names)

    def walk_from(self, walk: DirfdWalk, target: str, lister: ListFolder) -> Iterator[WalkStep]:
        """Every folder of `target`, where `walk` starts, and below. Raises: OSError if `target` cannot be listed."""
        start = Visit(0, "", target, self.start_stack(target))
        fd = walk.follow([])
        return self._descend(walk, start, fd, lister(fd), lister)

    def _descend(
        self, walk: DirfdWalk, start: Visit, fd: int, first: FolderListing, lister: ListFolder
    ) -> Iterator[WalkStep]:
        """Each folder before its sub-folders, beginning with the one open as `fd`, which lists `first`."""
        found: FolderListing | None = first
        todo = [start]
        while todo:
            visit = todo.pop()
            if found is None:
                try:
                    fd = walk.enter(visit.depth, visit.name)
                    found = lister(fd)
                except OSError as error:
                    self._on_problem(visit.path, describe_os_error(error))
                    continue
            files, folders, links, rules, _ = found
            found = None
            stack = visit.stack
            if rules and stack.fallback.include:  # rule files in an excluded folder are ignored
                stack = self._add_rule_files(stack, rules, fd, visit.path)
            files.sort()
            kept = stack.select(files)
            if kept and self.reasons is not None:
                prefix = f"{visit.path}/" if visit.path else ""
                self.reasons |= {prefix + name: stack.judge(name, folder=False) for name in kept}
            below = list(_folders_to_visit(visit, stack, folders))
            yield visit.path, kept, below, links, fd
            todo += below

    def enter_folder(self, stack: RuleStack, path: str) -> RuleStack:
        """`stack` with the rule files of the folder `path` below the top."""
        if not stack.fallback.include:
            return stack
        return self._enter_by_path(stack, os.path.join(self.top, path), path or ".")

    def _list(self, fd: int) -> FolderListing:
        """List an open folder, counting links and special files."""
        found = self.access.list(fd)
        self.skipped_links += len(found.links)
        self.skipped_special_files += found.special
        return found


def list_folder(fd: int) -> FolderListing:
    """List an open folder, unsorted. Raises: OSError."""
    files: list[str] = []
    folders: list[str] = []
    links: list[str] = []
    special = 0
    with os.scandir(fd) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.is_symlink():
                links.append(entry.name)
            else:
                special += 1
    rules = [] if _RULE_FILES.isdisjoint(files) else [name for name in files if name in _RULE_FILES]
    if ".git" in folders:
        rules.append(".git")
    return FolderListing(files, folders, links, rules, special)


@cache
def _default_rules() -> tuple[PathRule, ...]:
    return parse_gitignore(default_gitignore())


def _folders_to_visit(visit: Visit, stack: RuleStack, folders: list[str]) -> Iterator[Visit]:
    """The sub-folders in which something may be selected, in reverse order for the stack."""
    if not folders:
        return
    folders.sort(reverse=True)
    hot = set(stack.find_candidates(folders, folders=True))
    prefix = f"{visit.path}/" if visit.path else ""
    for name in folders:
        below = stack.below(name, stack.judge(name, folder=True) if name in hot else stack.fallback)
        if below.is_open:
            yield Visit(visit.depth + 1, name, prefix + name, below)


def unreadable_error(path: str, error: OSError) -> NotFound | BadInput | Refused:
    """The marid error for a folder that cannot be listed."""
    if isinstance(error, FileNotFoundError):
        return NotFound(f"{quote_path(path)}: not found")
    if isinstance(error, NotADirectoryError):
        return BadInput(f"{quote_path(path)}: not a folder")
    return Refused(f"{quote_path(path)}: {describe_os_error(error)}")


def describe_os_error(error: OSError) -> str:
    """Why a file or folder was skipped, as text."""
    if isinstance(error, MountLoop):
        return "mounted inside itself"
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, FileNotFoundError):
        return "it vanished"
    return (error.strerror or "cannot be read").lower()
