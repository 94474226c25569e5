"""A root that a caller may use, and names below it: the only way to read, list or walk files for a caller."""

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from marid.core.errors import BadInput, Exhausted, NotFound, Refused
from marid.text.display import quote_path
from marid.workspace.dirfd_walk import DirfdWalk, identity_of, read_all, read_regular
from marid.workspace.guard.openat import (
    FOLDER_FLAGS,
    PATH_ONLY,
    OpenBeneath,
    default_opener,
    open_stepwise,
    to_marid_error,
)
from marid.workspace.guard.protected_files import ListingFilter, ProtectedFiles, is_git_dir_name, is_history_file
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import FolderListing, SelectionRules, Walker, list_folder

MAX_FILE_BYTES = 16 << 20
PROTECTED = "protected: no tool may use it"
GIT_DIRECTORY = "only git may write its own directory"
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}
_NO_USER_FILES = UserGitFiles()


class GuardedRoot:
    """A folder, held by descriptor, so that it cannot be swapped by renaming. Threads may share it. Raises: NotFound.

    With `only_file`, only the file of that name in it may be used.
    """

    def __init__(
        self,
        path: str,
        *,
        only_file: str = "",
        protected_files: ProtectedFiles | None = None,
        opening: OpenBeneath | None = None,
    ) -> None:
        self._fd = -1
        self.path = os.path.realpath(path)
        self.only_file = only_file
        self.protected_files = protected_files or ProtectedFiles("", [self.path])
        self._opening = opening or default_opener()
        self._home = self.protected_files.home_below(self.path)
        self._is_in_git = any(map(is_git_dir_name, self.path.split("/")))
        self._prefixes = tuple({spelled.rstrip("/") + "/" for spelled in (self.path, os.path.abspath(path))})
        try:
            self._fd = os.open(self.path, PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise NotFound(f"{quote_path(path)}: not a folder, or it cannot be opened") from error
        self._identity = identity_of(self._fd)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def relative_name(self, raw: str) -> str | None:
        """The name of `raw` below this root, "." for the root itself; None if it is outside. No I/O."""
        if not raw.startswith("/"):
            name = os.path.normpath(raw)
            return None if name == ".." or name.startswith("../") or self.only_file else name
        path = "/" + os.path.normpath(raw).lstrip("/")
        for prefix in self._prefixes:
            if (path + "/").startswith(prefix):
                name = path[len(prefix) :] or "."
                return name if not self.only_file or name == self.only_file else None
        return None

    def check_allowed(self, name: str, *, write: bool = False) -> None:
        """Raise Refused for a protected name, or with `write` for one in a git directory. No I/O."""
        home = None if self._home is None else self._home.casefold()
        is_in_home = home is not None and (home == "." or f"{name.casefold()}/".startswith(f"{home}/"))
        if is_in_home or is_history_file(name.rpartition("/")[2]):
            raise Refused(PROTECTED)
        if write and (self._is_in_git or any(map(is_git_dir_name, name.split("/")))):
            raise Refused(GIT_DIRECTORY)

    def open(self, name: str, flags: int = os.O_RDONLY, *, links: bool = True) -> int:
        """Open `name`; with `links`, links that stay inside the root are followed.

        Raises: OSError; Refused for a protected name, or if the root is gone.
        """
        self.check_allowed(name)
        self._check_intact()
        try:
            return self._opening(self._fd, name, flags)
        except OSError as error:
            if error.errno != errno.ELOOP or not links or self.only_file:
                raise
        return open_stepwise(self._fd, name, flags, self.check_allowed)

    def open_root(self) -> int:
        """A descriptor of the root that can be listed and synced. Raises: OSError, Refused if it is gone."""
        self._check_intact()
        return os.open(".", FOLDER_FLAGS | os.O_RDONLY, dir_fd=self._fd)

    def listing_filter(self) -> ListingFilter:
        """What removes protected names from listings."""
        return ListingFilter(self.protected_files, self.path)

    def is_intact(self) -> bool:
        """Whether the root is open and its path still leads to the same folder."""
        try:
            return self._fd >= 0 and identity_of(self.path) == self._identity
        except OSError:
            return False

    def _check_intact(self) -> None:
        if not self.is_intact():
            raise Refused("the project folder is gone")


class FolderEntry(NamedTuple):
    """One entry of a folder. `kind` is "file", "dir", "link" or "other"."""

    name: str
    kind: str
    size: int


class OpenFolder(NamedTuple):
    """A folder of a walk, open until the next. `path` is relative to the start; `folders` are those to be entered."""

    path: str
    names: list[str]
    folders: list[str]
    fd: int
    links: list[str]
    protected_files: ProtectedFiles

    def read(self, name: str, limit: int = MAX_FILE_BYTES) -> bytes | None:
        """The bytes of a regular file; None if it is gone, unreadable, protected, special or too large."""
        if "/" in name or is_history_file(name):
            return None
        try:
            return read_regular(name, self.fd, limit, is_refused=self.protected_files.is_protected_link)
        except OSError:
            return None


@dataclass(frozen=True, kw_only=True)
class GuardedPath:
    """A name below a root, without a descriptor, so that it can be kept. `given` is the path as the caller wrote it."""

    root: GuardedRoot
    name: str
    given: str = field(default="", compare=False)
    user_git_files: UserGitFiles = field(default=_NO_USER_FILES, compare=False, repr=False)

    @property
    def display_name(self) -> str:
        """The path inside a sentence."""
        return f"'{self.display_path}'"

    @property
    def display_path(self) -> str:
        """The path for messages."""
        return quote_path(self.given or self.name)

    @property
    def qualified_name(self) -> str:
        """The name with two folders above the root, by which rules such as `workflows/ci.yml` recognize a file."""
        above = self.root.path.strip("/").split("/")
        return "/".join([*(above if self.root.only_file else above[-2:]), self.name])

    def below(self, path: str) -> "GuardedPath":
        """The path `path` below this one. Raises: BadInput if it would leave this one."""
        if not path or path.startswith("/") or ".." in path.split("/"):
            raise BadInput(f"{quote_path(path)}: not below {self.display_name}")
        given = os.path.join(self.given or self.name, path)
        return replace(self, name=os.path.normpath(os.path.join(self.name, path)), given=os.path.normpath(given))

    def read(self, limit: int = MAX_FILE_BYTES) -> bytes:
        """Read a regular file. Raises: NotFound, Refused, BadInput if it is not one, Exhausted above `limit`."""
        with self.open_regular() as fd:
            size = os.fstat(fd).st_size
            data = read_all(fd, size, limit) if size <= limit else None
        if data is None:
            raise Exhausted(f"{self.display_name} is larger than {limit:,} bytes")
        return data

    @contextmanager
    def open_regular(self) -> Generator[int, None, None]:
        """A descriptor of a regular file that may be too large to read. Raises: NotFound, Refused, BadInput."""
        fd = self._open(os.O_RDONLY)
        try:
            with self.naming_errors():
                self.check_regular(os.fstat(fd))
                yield fd
        finally:
            os.close(fd)

    @contextmanager
    def naming_errors(self) -> Generator[None]:
        """Turn OSErrors, and Refused without a path, into errors that name this path."""
        try:
            yield
        except OSError as error:
            raise to_marid_error(error, self.given or self.name) from error
        except Refused as error:
            raise Refused(f"{self.display_path}: {error}") from error

    def check_regular(self, about: os.stat_result) -> None:
        """Raises: BadInput if an open file is not regular; Refused, without a path, if it is protected."""
        if stat.S_ISDIR(about.st_mode):
            raise BadInput(f"{self.display_name} is a folder, not a file")
        if not stat.S_ISREG(about.st_mode):
            raise BadInput(f"{self.display_name} is not a regular file")
        if self.root.protected_files.is_protected_link(about):
            raise Refused(PROTECTED)

    def stat(self) -> os.stat_result:
        """The status of the file; links are followed. Raises: NotFound, Refused."""
        fd = self._open(PATH_ONLY)
        try:
            return os.fstat(fd)
        finally:
            os.close(fd)

    def kind(self) -> str:
        """ "file", "dir" or "other"; links are followed. Raises: NotFound, Refused."""
        return _KINDS.get(stat.S_IFMT(self.stat().st_mode), "other")

    def is_folder(self) -> bool:
        """Raises: NotFound, Refused."""
        return self.kind() == "dir"

    def entries(self) -> list[FolderEntry]:
        """The entries of the folder by name, without protected ones. Raises: NotFound, Refused, BadInput for a file."""
        fd = self.open_folder()
        try:
            with self.naming_errors(), os.scandir(fd) as found:
                entries = {entry.name: entry for entry in found}
                names = self.root.listing_filter().visible_names(sorted(entries), fd)
                return [made for name in names if (made := make_entry(entries[name], fd))]
        finally:
            os.close(fd)

    def walk(self, *, ignored: bool = False, hidden: bool = True) -> Iterator[OpenFolder]:
        """The folder and all folders below, each before its sub-folders; links are not followed.

        Leaves out protected files and `.git`; unless `ignored`, what ignore files and the defaults exclude; unless
        `hidden`, names that begin with a dot. Raises: NotFound, Refused, BadInput for a file.
        """
        target = "" if self.name == "." else self.name
        rules = SelectionRules(
            ignores=not ignored, defaults=not ignored, user_git_files=self.user_git_files, context_files=False
        )
        list_visible = GuardedLister(self.root, hidden=hidden)
        with DirfdWalk(self.open_folder()) as walk:
            with self.naming_errors():
                opened = Walker(self.root.path, rules).walk_from(walk, target, list_visible)
            start = len(target) + 1 if target else 0
            for path, names, below, links, fd in opened:
                folders = [visit.name for visit in reversed(below)]
                yield OpenFolder(path[start:], names, folders, fd, links, self.root.protected_files)

    def _open(self, flags: int) -> int:
        with self.naming_errors():
            return self.root.open(self.name, flags)

    def open_folder(self) -> int:
        """A descriptor of the folder that can be listed. Raises: NotFound, Refused, BadInput for a file."""
        if not self.is_folder():
            raise BadInput(f"{self.display_name} is a file, not a folder")
        return self._open(os.O_RDONLY | os.O_DIRECTORY)


class GuardedLister:
    """Lists a folder of a walk without protected and, unless `hidden`, hidden names."""

    def __init__(self, root: GuardedRoot, *, hidden: bool) -> None:
        self._listing_filter = root.listing_filter()
        self._hidden = hidden

    def __call__(self, fd: int) -> FolderListing:
        """The listing; its `rules` are complete, since a hidden rule file still applies."""
        found = list_folder(fd)
        files, folders, links = (self._filter_names(names, fd) for names in found[:3])
        return FolderListing(files, folders, links, found.rules)

    def _filter_names(self, names: list[str], fd: int) -> list[str]:
        if not names:
            return names
        names = self._listing_filter.visible_names(names, fd)
        if not self._hidden:
            return [name for name in names if name[0] != "."]
        return [name for name in names if name != ".git"] if ".git" in names else names


def make_entry(entry: "os.DirEntry[str]", folder: int) -> FolderEntry | None:
    """An entry of an open folder; None if it has vanished, size 0 if it cannot be examined."""
    try:
        about = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return FolderEntry(entry.name, "dir" if entry.is_dir(follow_symlinks=False) else "file", 0)
    return FolderEntry(entry.name, _KINDS.get(stat.S_IFMT(about.st_mode), "other"), about.st_size)
