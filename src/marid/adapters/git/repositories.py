"""Find the repository of a folder and open a neutral view of it that ignores its configuration.

The view is a temporary git folder: it links to the repository's references and objects and copies its index, but has
our configuration, with a few harmless values copied, and no hooks, filters, drivers or remotes. What is not there
cannot run, so no list of dangerous settings has to be complete.
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from marid.core.errors import Exhausted, NotFound, Refused, Unavailable

MAX_SMALL_FILE = 1 << 16
MAX_INDEX_SIZE = 1 << 29
NO_OWNER = -1
LINKED_FILES = ("packed-refs", "shallow")
PSEUDO_REFERENCES = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
# Facts about the files and the object store; each value is a word.
COPIED_SETTINGS = (
    *("core.repositoryformatversion", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"),
    *("core.autocrlf", "core.eol", "extensions.objectformat", "extensions.refstorage"),
)
_OBJECT_FOLDER = re.compile("pack|[0-9a-f]{2}")
_WORD = re.compile(r"[A-Za-z0-9]{1,16}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class GitRepository:
    """A working tree, its git folder, and the one that it shares with other working trees (usually the same)."""

    work_tree: str
    git_dir: str
    common_dir: str

    def owners(self) -> frozenset[int]:
        """The owners of the paths that git checks before it trusts a repository."""
        parts = (self.work_tree, os.path.join(self.work_tree, ".git"), self.git_dir, self.common_dir)
        return frozenset(os.lstat(part).st_uid if os.path.lexists(part) else NO_OWNER for part in parts)


def find_repository(folder: str) -> GitRepository:
    """The repository whose working tree holds the folder; bare repositories are ignored.

    Raises: NotFound; Refused if it takes its history from another repository that does not know of it.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise NotFound(f"no such folder: {folder}")
    for top in (real, *map(str, Path(real).parents)):
        if git_dir := _find_git_dir(top):
            common = _find_common_dir(top, git_dir)
            _check_objects(os.path.join(common, "objects"))
            return GitRepository(work_tree=top, git_dir=git_dir, common_dir=common)
    raise NotFound(f"not in a git repository: {folder}")


@contextlib.contextmanager
def open_neutral_view(repository: GitRepository) -> Generator[str]:
    """A temporary git folder to read the repository through, without configuration yet."""
    with contextlib.ExitStack() as stack:
        try:
            view = stack.enter_context(tempfile.TemporaryDirectory(prefix="marid-git-"))
            _populate_view(view, repository)
        except OSError as cause:
            raise Unavailable(f"the repository cannot be read: {cause}") from cause
        yield view


def write_config(view: str, settings: Mapping[str, str]) -> None:
    """Write the settings that are known to be harmless into the view."""
    lines = ["[core]\n\tbare = false\n"]
    for key in COPIED_SETTINGS:
        if _WORD.fullmatch(value := settings.get(key, "")):
            section, name = key.split(".")
            lines.append(f"[{section}]\n\t{name} = {value}\n")
    try:
        with open(os.path.join(view, "config"), "w", encoding="ascii") as file:
            file.writelines(lines)
    except OSError as cause:
        raise Unavailable(f"the repository cannot be read: {cause}") from cause


def check_pointer(repository: GitRepository, settings: Mapping[str, str]) -> None:
    """Refuse a git folder that a `.git` file names if its configuration does not name this working tree."""
    if repository.git_dir == os.path.join(repository.work_tree, ".git") or repository.git_dir != repository.common_dir:
        return
    back = settings.get("core.worktree")
    if back is None or os.path.realpath(os.path.join(repository.git_dir, back)) != repository.work_tree:
        raise _unrelated_repository_error(repository.work_tree)


def read_small_file(path: str) -> str | None:
    """The content of a short regular file; None if it is missing, longer, a link or something else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        data = os.read(descriptor, MAX_SMALL_FILE + 1) if regular else b""
    finally:
        os.close(descriptor)
    return os.fsdecode(data) if regular and len(data) <= MAX_SMALL_FILE else None


def is_regular_file(path: str) -> bool:
    """Whether the path is a regular file and not a link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _find_git_dir(top: str) -> str | None:
    """The git folder of `top`, if it has one."""
    git_dir = os.path.join(top, ".git")
    if os.path.islink(git_dir):
        raise Refused(f"{git_dir} is a link: a repository must not show what lies elsewhere")
    if pointer := read_small_file(git_dir):
        if not pointer.startswith("gitdir: "):
            return None
        git_dir = os.path.realpath(os.path.join(top, pointer.removeprefix("gitdir: ").rstrip("\r\n")))
    return git_dir if read_small_file(os.path.join(git_dir, "HEAD")) else None


def _find_common_dir(top: str, git_dir: str) -> str:
    """The git folder with the objects.

    A `.git` file may name any repository on the machine, so that repository must know of this working tree:
    one with several working trees lists them, any other names its own in the configuration (`check_pointer`).
    """
    if git_dir == os.path.join(top, ".git"):
        return git_dir
    back = read_small_file(os.path.join(git_dir, "gitdir"))
    if back is None:
        return git_dir
    pointer = read_small_file(os.path.join(git_dir, "commondir")) or ""
    common = os.path.realpath(os.path.join(git_dir, pointer.rstrip("\r\n")))
    listed = os.path.realpath(os.path.join(git_dir, back.rstrip("\r\n")))
    if os.path.dirname(git_dir) != os.path.join(common, "worktrees") or listed != os.path.join(top, ".git"):
        raise _unrelated_repository_error(top)
    return common


def _unrelated_repository_error(top: str) -> Refused:
    return Refused(
        f"{top}: its .git file names a repository that does not know of it"
        f" (if it is yours, run `git config core.worktree {top}`)"
    )


def _check_objects(objects: str) -> None:
    """Refuse an object store with links to other places: their content would be shown as this folder's history."""
    try:
        names = [name for name in os.listdir(objects) if _OBJECT_FOLDER.fullmatch(name)]
    except OSError:
        names = []
    for folder in (objects, *(os.path.join(objects, name) for name in ("info", *names))):
        try:
            with os.scandir(folder) as entries:
                outside = os.path.islink(folder) or any(entry.is_symlink() for entry in entries)
        except OSError:
            outside = False
        if outside:
            raise Refused(f"{folder} holds links: a repository must not show what lies elsewhere")
    for name in ("alternates", "http-alternates"):
        path = os.path.join(objects, "info", name)
        if os.path.exists(path) and read_small_file(path) != "":
            raise Refused(f"{path} borrows objects from elsewhere: `git repack -a` makes the repository whole")


def _link_store(view: str, common: str) -> None:
    """Link references and objects; our own folder before the objects takes what we store, and hides alternates."""
    for name in ("refs", "reftable"):
        if os.path.isdir(os.path.join(common, name)):
            os.symlink(os.path.join(common, name), os.path.join(view, name))
    for name in ("info", "objects/info", "borrowed", "tree"):
        os.makedirs(os.path.join(view, name))
    objects = os.path.join(common, "objects")
    Path(view, "objects/info/alternates").write_text("../borrowed\n", encoding="ascii")
    for name in os.listdir(objects):
        if _OBJECT_FOLDER.fullmatch(name):
            os.symlink(os.path.join(objects, name), os.path.join(view, "borrowed", name))


def _populate_view(view: str, repository: GitRepository) -> None:
    git_dir, common = repository.git_dir, repository.common_dir
    with open(os.path.join(view, "HEAD"), "wb") as file:
        file.write(os.fsencode(read_small_file(os.path.join(git_dir, "HEAD")) or ""))
    _link_store(view, common)
    shared_indexes = [name for name in os.listdir(git_dir) if name.startswith("sharedindex.")]
    files = ((common, (*LINKED_FILES, "info/exclude")), (git_dir, (*PSEUDO_REFERENCES, *shared_indexes)))
    for folder, names in files:
        for name in names:
            if is_regular_file(os.path.join(folder, name)):
                os.symlink(os.path.join(folder, name), os.path.join(view, name))
    index = os.path.join(git_dir, "index")
    if is_regular_file(index):
        if os.stat(index).st_size > MAX_INDEX_SIZE:
            raise Exhausted(f"{index} is larger than {MAX_INDEX_SIZE:,} bytes")
        # With its time: git locks and refreshes the index it is given, and compares the time with the files'.
        shutil.copy2(index, os.path.join(view, "index"))
    write_config(view, {})
