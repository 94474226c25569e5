"""A name below a root: the only way to read, list or walk files for a caller."""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from marid.core.errors import BadInput, Exhausted, Refused
from marid.text.display import quote_path
from marid.workspace.dirfd_walk import DirfdWalk, open_file, read_up_to
from marid.workspace.guard.guarded_root import PROTECTED, GuardedRoot
from marid.workspace.guard.openat import PATH_ONLY, to_marid_error
from marid.workspace.guard.protected_files import ListingFilter, ProtectedFiles, is_history_file
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import FolderListing, SelectionRules, Walker, list_folder

MAX_FILE_BYTES = 16 << 20
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}
_NO_USER_FILES = UserGitFiles()


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
            opened = open_file(name, self.fd)
        except OSError:
            return None
        if opened is None:
            return None
        fd, about = opened
        try:
            if about.st_size > limit or (about.st_nlink > 1 and self.protected_files.is_protected_link(about)):
                return None
            return read_all(fd, about.st_size, limit)
        except OSError:
            return None
        finally:
            os.close(fd)


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
        fd = self._open(os.O_RDONLY)
        try:
            about = os.fstat(fd)
            self._check_regular(about)
            data = read_all(fd, about.st_size, limit) if about.st_size <= limit else None
        except OSError as error:
            raise to_marid_error(error, self.given or self.name) from error
        finally:
            os.close(fd)
        if data is None:
            raise Exhausted(f"{self.display_name} is larger than {limit:,} bytes")
        return data

    @contextmanager
    def open_regular(self) -> Generator[int, None, None]:
        """A descriptor of a regular file that may be too large to read. Raises: NotFound, Refused, BadInput."""
        fd = self._open(os.O_RDONLY)
        try:
            self._check_regular(os.fstat(fd))
            yield fd
        except OSError as error:
            raise to_marid_error(error, self.given or self.name) from error
        finally:
            os.close(fd)

    def _check_regular(self, about: os.stat_result) -> None:
        if stat.S_ISDIR(about.st_mode):
            raise BadInput(f"{self.display_name} is a folder, not a file")
        if not stat.S_ISREG(about.st_mode):
            raise BadInput(f"{self.display_name} is not a regular file")
        if self.root.protected_files.is_protected_link(about):
            raise Refused(f"{self.display_path}: {PROTECTED}")

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
            with os.scandir(fd) as found:
                entries = {entry.name: entry for entry in found}
            names = ListingFilter(self.root.protected_files, self.root.path).visible_names(sorted(entries), fd)
            return [made for name in names if (made := make_entry(entries[name], fd))]
        except OSError as error:
            raise to_marid_error(error, self.given or self.name) from error
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
        list_visible = GuardedLister(ListingFilter(self.root.protected_files, self.root.path), hidden=hidden)
        with DirfdWalk(self.open_folder()) as walk:
            try:
                opened = Walker(self.root.path, rules).walk_from(walk, target, list_visible)
            except OSError as error:
                raise to_marid_error(error, self.given or self.name) from error
            start = len(target) + 1 if target else 0
            for path, names, below, links, fd in opened:
                folders = [visit.name for visit in reversed(below)]
                yield OpenFolder(path[start:], names, folders, fd, links, self.root.protected_files)

    def _open(self, flags: int) -> int:
        try:
            return self.root.open(self.name, flags)
        except OSError as error:
            raise to_marid_error(error, self.given or self.name) from error
        except Refused as error:
            raise Refused(f"{self.display_path}: {error}") from error

    def open_folder(self) -> int:
        """A descriptor of the folder that can be listed. Raises: NotFound, Refused, BadInput for a file."""
        if not self.is_folder():
            raise BadInput(f"{self.display_name} is a file, not a folder")
        return self._open(os.O_RDONLY | os.O_DIRECTORY)


class GuardedLister:
    """Lists a folder of a walk without protected and, unless `hidden`, hidden names."""

    def __init__(self, listing_filter: ListingFilter, *, hidden: bool) -> None:
        self._listing_filter = listing_filter
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


def read_all(fd: int, size: int, limit: int) -> bytes | None:
    """The whole file, even if it is longer than `size`; None above `limit`. Raises: OSError."""
    data = os.read(fd, size + 1)
    if len(data) != size:  # it changed meanwhile, or its size is not known, as in /proc
        data += read_up_to(fd, limit + 1 - len(data))
    return data if len(data) <= limit else None
