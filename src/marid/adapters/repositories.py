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

SMALL = 1 << 16
LARGEST_INDEX = 1 << 29
NOBODY = -1
LINKED = ("packed-refs", "shallow")
PSEUDO_REFERENCES = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
# Plain facts about the files and the object store; each value is a word.
TAKEN_OVER = (
    *("core.repositoryformatversion", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"),
    *("core.autocrlf", "core.eol", "extensions.objectformat", "extensions.refstorage"),
)
_WORD = re.compile(r"[A-Za-z0-9]{1,16}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A working tree, its own git folder, and the one that it shares with other working trees (most often the same)."""

    top: str
    own: str
    shared: str

    def owners(self) -> frozenset[int]:
        """Who owns the parts that git looks at before it trusts a repository."""
        parts = (self.top, os.path.join(self.top, ".git"), self.own, self.shared)
        return frozenset(_owner(part) for part in parts)


def find(folder: str) -> Repository:
    """The repository whose working tree holds the folder; bare ones are never taken for one.

    Raises:
        NotFound: there is no such folder, or it is in no repository.
        Refused: the repository borrows its history from a place that does not know of it.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise NotFound(f"no such folder: {folder}")
    for top in _upwards(real):
        if own := _git_folder(top):
            shared = _shared(top, own)
            _check_objects(os.path.join(shared, "objects"))
            return Repository(top=top, own=own, shared=shared)
    raise NotFound(f"not in a git repository: {folder}")


@contextlib.contextmanager
def neutral(repository: Repository) -> Generator[str]:
    """A git folder for reading the repository, without configuration yet; gone afterwards."""
    with contextlib.ExitStack() as kept:
        try:
            view = kept.enter_context(tempfile.TemporaryDirectory(prefix="marid-git-"))
            _fill(view, repository)
        except OSError as cause:
            raise Unavailable(f"the repository cannot be read: {cause}") from cause
        yield view


def configure(view: str, settings: Mapping[str, str]) -> None:
    """Write those settings into the view that are known to be harmless; a working tree is given apart."""
    lines = ["[core]\n\tbare = false\n"]
    for key in TAKEN_OVER:
        if _WORD.fullmatch(value := settings.get(key, "")):
            section, name = key.split(".")
            lines.append(f"[{section}]\n\t{name} = {value}\n")
    try:
        with open(os.path.join(view, "config"), "w", encoding="ascii") as file:
            file.writelines(lines)
    except OSError as cause:
        raise Unavailable(f"the repository cannot be read: {cause}") from cause


def check_pointer(repository: Repository, settings: Mapping[str, str]) -> None:
    """Refuse a git folder that a `.git` file names and that does not say that it belongs to this working tree."""
    if repository.own == os.path.join(repository.top, ".git") or repository.own != repository.shared:
        return
    back = settings.get("core.worktree")
    if back is None or os.path.realpath(os.path.join(repository.own, back)) != repository.top:
        raise _stranger(repository.top)


def small_text(path: str) -> str | None:
    """The content of a short regular file, None when it is missing, long, a link or something else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        data = os.read(descriptor, SMALL + 1) if regular else b""
    finally:
        os.close(descriptor)
    return os.fsdecode(data) if regular and len(data) <= SMALL else None


def is_plain(path: str) -> bool:
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


def _git_folder(top: str) -> str | None:
    """The git folder that `top` names, when it is one."""
    named = os.path.join(top, ".git")
    if os.path.islink(named):
        raise Refused(f"{named} is a link: a repository must not show what lies elsewhere")
    own = named
    if pointer := small_text(named):
        if not pointer.startswith("gitdir: "):
            return None
        own = os.path.realpath(os.path.join(top, pointer.removeprefix("gitdir: ").rstrip("\r\n")))
    return own if small_text(os.path.join(own, "HEAD")) else None


def _shared(top: str, own: str) -> str:
    """The git folder with the objects.

    A `.git` file may name any repository on the machine, so the one that it names must know of this working tree:
    one with several working trees lists them, for any other the configuration says it (`check_pointer`).
    """
    if own == os.path.join(top, ".git"):
        return own
    back = small_text(os.path.join(own, "gitdir"))
    if back is None:
        return own
    common = small_text(os.path.join(own, "commondir")) or ""
    shared = os.path.realpath(os.path.join(own, common.rstrip("\r\n")))
    place, name = os.path.split(os.path.dirname(own))
    named = os.path.realpath(os.path.join(own, back.rstrip("\r\n")))
    if (place, name) != (shared, "worktrees") or named != os.path.join(top, ".git"):
        raise _stranger(top)
    return shared


def _stranger(top: str) -> Refused:
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
        if os.path.exists(listed) and small_text(listed) != "":
            raise Refused(f"{listed} borrows objects from elsewhere: `git repack -a` makes the repository whole")


def _fill(view: str, repository: Repository) -> None:
    own, shared = repository.own, repository.shared
    with open(os.path.join(view, "HEAD"), "wb") as file:
        file.write(os.fsencode(small_text(os.path.join(own, "HEAD")) or ""))
    for name in ("objects", "refs", "reftable"):
        if os.path.isdir(os.path.join(shared, name)):
            os.symlink(os.path.join(shared, name), os.path.join(view, name))
    os.mkdir(os.path.join(view, "info"))
    for place, names in ((shared, (*LINKED, "info/exclude")), (own, (*PSEUDO_REFERENCES, *_shared_indexes(own)))):
        for name in names:
            if is_plain(os.path.join(place, name)):
                os.symlink(os.path.join(place, name), os.path.join(view, name))
    if is_plain(os.path.join(own, "index")):
        _copy_index(os.path.join(own, "index"), os.path.join(view, "index"))
    configure(view, {})


def _shared_indexes(own: str) -> list[str]:
    return [name for name in os.listdir(own) if name.startswith("sharedindex.")]


def _copy_index(source: str, target: str) -> None:
    """A copy, since git refreshes and locks the index that it is given; the time is kept, git's comparison needs it."""
    if os.stat(source).st_size > LARGEST_INDEX:
        raise Exhausted(f"{source} is larger than {LARGEST_INDEX:,} bytes")
    shutil.copyfile(source, target)
    shutil.copystat(source, target)
