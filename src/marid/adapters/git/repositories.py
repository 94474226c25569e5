"""Where the repository of a folder is, and a neutral view of it that none of its own configuration reaches.

The view is a git folder of our own making: references, objects and a copy of the index are the repository's, the
configuration is ours with a few harmless values taken over, and there are no hooks, filters, drivers or remotes.
What is not there cannot run, so no list of dangerous settings has to be complete.
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

from marid.core.errors import Exhausted, NotFound, Refused, Unavailable

MAX_SMALL_FILE = 1 << 16
MAX_INDEX_SIZE = 1 << 29
NOBODY = -1
LINKED_FILES = ("packed-refs", "shallow")
PSEUDO_REFERENCES = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
# Plain facts about the files and the object store; each value is a word.
COPIED_SETTINGS = (
    *("core.repositoryformatversion", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"),
    *("core.autocrlf", "core.eol", "extensions.objectformat", "extensions.refstorage"),
)
_WORD = re.compile(r"[A-Za-z0-9]{1,16}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class GitRepository:
    """A working tree, its own git folder, and the one that it shares with other working trees (most often the same)."""

    work_tree: str
    git_dir: str
    common_dir: str

    def owners(self) -> frozenset[int]:
        """Who owns the parts that git looks at before it trusts a repository."""
        parts = (self.work_tree, os.path.join(self.work_tree, ".git"), self.git_dir, self.common_dir)
        return frozenset(_owner(part) for part in parts)


def find_repository(folder: str) -> GitRepository:
    """The repository whose working tree holds the folder; bare ones are never taken for one.

    Raises:
        NotFound: there is no such folder, or it is in no repository.
        Refused: the repository borrows its history from a place that does not know of it.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise NotFound(f"no such folder: {folder}")
    for top in _upwards(real):
        if own := _find_git_dir(top):
            shared = _find_common_dir(top, own)
            _check_objects(os.path.join(shared, "objects"))
            return GitRepository(work_tree=top, git_dir=own, common_dir=shared)
    raise NotFound(f"not in a git repository: {folder}")


@contextlib.contextmanager
def open_neutral_view(repository: GitRepository) -> Generator[str]:
    """A git folder for reading the repository, without configuration yet; gone afterwards."""
    with contextlib.ExitStack() as kept:
        try:
            view = kept.enter_context(tempfile.TemporaryDirectory(prefix="marid-git-"))
            _populate_view(view, repository)
        except OSError as cause:
            raise Unavailable(f"the repository cannot be read: {cause}") from cause
        yield view


def write_config(view: str, settings: Mapping[str, str]) -> None:
    """Write those settings into the view that are known to be harmless; a working tree is given apart."""
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
    """Refuse a git folder that a `.git` file names and that does not say that it belongs to this working tree."""
    if repository.git_dir == os.path.join(repository.work_tree, ".git") or repository.git_dir != repository.common_dir:
        return
    back = settings.get("core.worktree")
    if back is None or os.path.realpath(os.path.join(repository.git_dir, back)) != repository.work_tree:
        raise _unrelated_repository_error(repository.work_tree)


def read_small_file(path: str) -> str | None:
    """The content of a short regular file, None when it is missing, long, a link or something else."""
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
    """Whether there is a regular file of this name, not behind a link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _owner(path: str) -> int:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return NOBODY


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _find_git_dir(top: str) -> str | None:
    """The git folder that `top` names, when it is one."""
    named = os.path.join(top, ".git")
    if os.path.islink(named):
        raise Refused(f"{named} is a link: a repository must not show what lies elsewhere")
    own = named
    if pointer := read_small_file(named):
        if not pointer.startswith("gitdir: "):
            return None
        own = os.path.realpath(os.path.join(top, pointer.removeprefix("gitdir: ").rstrip("\r\n")))
    return own if read_small_file(os.path.join(own, "HEAD")) else None


def _find_common_dir(top: str, own: str) -> str:
    """The git folder with the objects.

    A `.git` file may name any repository on the machine, so the one that it names must know of this working tree:
    one with several working trees lists them, for any other the configuration says it (`check_pointer`).
    """
    if own == os.path.join(top, ".git"):
        return own
    back = read_small_file(os.path.join(own, "gitdir"))
    if back is None:
        return own
    common = read_small_file(os.path.join(own, "commondir")) or ""
    shared = os.path.realpath(os.path.join(own, common.rstrip("\r\n")))
    place, name = os.path.split(os.path.dirname(own))
    named = os.path.realpath(os.path.join(own, back.rstrip("\r\n")))
    if (place, name) != (shared, "worktrees") or named != os.path.join(top, ".git"):
        raise _unrelated_repository_error(top)
    return shared


def _unrelated_repository_error(top: str) -> Refused:
    return Refused(
        f"{top}: its .git file names a repository that does not know of it"
        f" (if it is yours: `git config core.worktree {top}` tells it)"
    )


def _check_objects(objects: str) -> None:
    """Refuse a store that reaches elsewhere: what it holds would be told as this folder's history."""
    for place in (objects, os.path.join(objects, "pack"), os.path.join(objects, "info")):
        try:
            with os.scandir(place) as entries:
                outside = os.path.islink(place) or any(entry.is_symlink() for entry in entries)
        except OSError:
            outside = False
        if outside:
            raise Refused(f"{place} holds links: a repository must not show what lies elsewhere")
    for name in ("alternates", "http-alternates"):
        listed = os.path.join(objects, "info", name)
        if os.path.exists(listed) and read_small_file(listed) != "":
            raise Refused(f"{listed} borrows objects from elsewhere: `git repack -a` makes the repository whole")


def _populate_view(view: str, repository: GitRepository) -> None:
    own, shared = repository.git_dir, repository.common_dir
    with open(os.path.join(view, "HEAD"), "wb") as file:
        file.write(os.fsencode(read_small_file(os.path.join(own, "HEAD")) or ""))
    for name in ("objects", "refs", "reftable"):
        if os.path.isdir(os.path.join(shared, name)):
            os.symlink(os.path.join(shared, name), os.path.join(view, name))
    os.mkdir(os.path.join(view, "info"))
    for place, names in ((shared, (*LINKED_FILES, "info/exclude")), (own, (*PSEUDO_REFERENCES, *_shared_indexes(own)))):
        for name in names:
            if is_regular_file(os.path.join(place, name)):
                os.symlink(os.path.join(place, name), os.path.join(view, name))
    if is_regular_file(os.path.join(own, "index")):
        _copy_index(os.path.join(own, "index"), os.path.join(view, "index"))
    write_config(view, {})


def _shared_indexes(own: str) -> list[str]:
    return [name for name in os.listdir(own) if name.startswith("sharedindex.")]


def _copy_index(source: str, target: str) -> None:
    """A copy, since git refreshes and locks the index that it is given; the time is kept, git's comparison needs it."""
    if os.stat(source).st_size > MAX_INDEX_SIZE:
        raise Exhausted(f"{source} is larger than {MAX_INDEX_SIZE:,} bytes")
    shutil.copyfile(source, target)
    shutil.copystat(source, target)
