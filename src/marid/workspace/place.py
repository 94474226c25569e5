"""A name beneath a root: the only way in which anything on disk is read, listed or walked for a caller."""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from marid.core.errors import BadInput, Exhausted, Refused
from marid.text.visible import shown_path
from marid.workspace.beneath import PASSING, as_family
from marid.workspace.descent import Descent, open_file, read_at_most
from marid.workspace.forbidden import is_history
from marid.workspace.ignores import UserFiles
from marid.workspace.tree import Tree
from marid.workspace.walk import Listing, Ruling, Walker, listing
from marid.workspace.withheld import Blinkers, Withheld

MOST_BYTES = 16 << 20
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}
_NOBODY = UserFiles()


class Entry(NamedTuple):
    """One name in a folder. `kind` is "file", "dir", "link" or "other"."""

    name: str
    kind: str
    size: int


class OpenFolder(NamedTuple):
    """A folder of a walk, open until the next one is asked for. `path` is relative to where the walk began ("").

    `folders` are those that the walk goes into; `links` are named, never followed.
    """

    path: str
    names: list[str]
    folders: list[str]
    fd: int
    links: list[str]
    withheld: Withheld

    def read(self, name: str, limit: int = MOST_BYTES) -> bytes | None:
        """The bytes of a regular file; None for what has gone, may not be read, is no regular file or is too large."""
        if "/" in name or is_history(name):
            return None
        try:
            opened = open_file(name, self.fd)
        except OSError:
            return None
        if opened is None:
            return None
        fd, about = opened
        try:
            if about.st_size > limit or (about.st_nlink > 1 and self.withheld.same_file(about)):
                return None
            return read_whole(fd, about.st_size, limit)
        except OSError:
            return None
        finally:
            os.close(fd)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A name beneath a root. No descriptor is held, so it may wait for an answer, be dropped or be shared.

    `given` is the path as the caller spelled it, which messages name.
    """

    tree: Tree
    name: str
    given: str = field(default="", compare=False)
    user: UserFiles = field(default=_NOBODY, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """As messages name it, in quotes."""
        return f"'{shown_path(self.given or self.name)}'"

    @property
    def kin(self) -> str:
        """The name with what is above it beyond the root: by that, too, a file is known, as `ci.yml` in `workflows`."""
        above = self.tree.path.strip("/").split("/")
        return "/".join([*(above if self.tree.only else above[-2:]), self.name])

    def below(self, path: str) -> "Place":
        """The place that a walk from here found as `path`. Raises: BadInput for a path that would leave it."""
        if not path or path.startswith("/") or ".." in path.split("/"):
            raise BadInput(f"'{shown_path(path)}' is no name below {self.shown}")
        given = os.path.join(self.given or self.name, path)
        return replace(self, name=os.path.normpath(os.path.join(self.name, path)), given=os.path.normpath(given))

    def read(self, limit: int = MOST_BYTES) -> bytes:
        """The bytes of the file, which must be a regular one of at most `limit` bytes.

        Raises: NotFound, Refused, BadInput for what is no regular file, Exhausted for a file that is too large.
        """
        fd = self._open(os.O_RDONLY)
        try:
            about = os.fstat(fd)
            self._must_be_regular(about)
            data = read_whole(fd, about.st_size, limit) if about.st_size <= limit else None
        except OSError as error:
            raise as_family(error, self.given or self.name) from error
        finally:
            os.close(fd)
        if data is None:
            raise Exhausted(f"{self.shown} is larger than {limit:,} bytes")
        return data

    @contextmanager
    def opened(self) -> Generator[int, None, None]:
        """A descriptor of the file, which must be a regular one, for what is too large to be read whole.

        Raises: NotFound, Refused, BadInput for what is no regular file.
        """
        fd = self._open(os.O_RDONLY)
        try:
            self._must_be_regular(os.fstat(fd))
            yield fd
        except OSError as error:
            raise as_family(error, self.given or self.name) from error
        finally:
            os.close(fd)

    def _must_be_regular(self, about: os.stat_result) -> None:
        if stat.S_ISDIR(about.st_mode):
            raise BadInput(f"{self.shown} is a folder, not a file")
        if not stat.S_ISREG(about.st_mode):
            raise BadInput(f"{self.shown} is not a regular file")
        if self.tree.withheld.same_file(about):
            raise Refused(f"{self.shown} is refused: it is kept from every tool")

    def stat(self) -> os.stat_result:
        """What is there now; a link is followed to where it leads. Raises: NotFound, Refused."""
        fd = self._open(PASSING)
        try:
            return os.fstat(fd)
        finally:
            os.close(fd)

    def kind(self) -> str:
        """What is there now: "file", "dir" or "other". Raises: NotFound, Refused."""
        return _KINDS.get(stat.S_IFMT(self.stat().st_mode), "other")

    def is_folder(self) -> bool:
        """Whether a folder is there now. Raises: NotFound, Refused."""
        return self.kind() == "dir"

    def entries(self) -> list[Entry]:
        """What is directly in the folder, by name, without what is withheld.

        Raises: NotFound, Refused, BadInput for what is no folder.
        """
        fd = self._folder()
        try:
            with os.scandir(fd) as found:
                entries = {entry.name: entry for entry in found}
            names = Blinkers(self.tree.withheld, self.tree.path).shown(sorted(entries), fd)
            return [made for name in names if (made := entry_of(entries[name], fd))]
        except OSError as error:
            raise as_family(error, self.given or self.name) from error
        finally:
            os.close(fd)

    def walk(self, *, ignored: bool = False, hidden: bool = True) -> Iterator[OpenFolder]:
        """The folder and all below it, each before its sub-folders, without what is withheld; links are not followed.

        Without `ignored`, what ignore files and the built-in defaults exclude is left out; without `hidden`, names
        that begin with a dot. `.git` is never shown. Raises: NotFound, Refused, BadInput for what is no folder.
        """
        target = "" if self.name == "." else self.name
        ruling = Ruling(ignores=not ignored, defaults=not ignored, user=self.user, near=False)
        look = Look(Blinkers(self.tree.withheld, self.tree.path), hidden=hidden)
        with Descent(self._folder()) as descent:
            try:
                opened = Walker(self.tree.path, ruling).walk_from(descent, target, look)
            except OSError as error:
                raise as_family(error, self.given or self.name) from error
            start = len(target) + 1 if target else 0
            for path, names, below, links, fd in opened:
                folders = [visit.name for visit in reversed(below)]
                yield OpenFolder(path[start:], names, folders, fd, links, self.tree.withheld)

    def _open(self, flags: int) -> int:
        try:
            return self.tree.open(self.name, flags)
        except OSError as error:
            raise as_family(error, self.given or self.name) from error
        except Refused as error:
            raise Refused(f"{self.shown} is refused: {error}") from error

    def _folder(self) -> int:
        if not self.is_folder():
            raise BadInput(f"{self.shown} is a file, not a folder")
        return self._open(os.O_RDONLY | os.O_DIRECTORY)


class Look:
    """Lists one folder of a walk without what nobody asked for."""

    def __init__(self, blinkers: Blinkers, *, hidden: bool) -> None:
        self._blinkers = blinkers
        self._hidden = hidden

    def __call__(self, fd: int) -> Listing:
        """The listing; its `rules` are complete, since what is not shown may still rule."""
        found = listing(fd)
        files, folders, links = (self._kept(names, fd) for names in found[:3])
        return Listing(files, folders, links, found.rules)

    def _kept(self, names: list[str], fd: int) -> list[str]:
        if not names:
            return names
        names = self._blinkers.shown(names, fd)
        if not self._hidden:
            return [name for name in names if name[0] != "."]
        return [name for name in names if name != ".git"] if ".git" in names else names


def entry_of(entry: "os.DirEntry[str]", folder: int) -> Entry | None:
    """What lies in an open folder; None if it vanished meanwhile; no size if it cannot be looked at."""
    try:
        about = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return Entry(entry.name, "dir" if entry.is_dir(follow_symlinks=False) else "file", 0)
    return Entry(entry.name, _KINDS.get(stat.S_IFMT(about.st_mode), "other"), about.st_size)


def read_whole(fd: int, size: int, limit: int) -> bytes | None:
    """All there is, however long the file says it is; None when that is more than `limit`. Raises: OSError."""
    data = os.read(fd, size + 1)
    if len(data) != size:  # it changed meanwhile, or never told the truth
        data += read_at_most(fd, limit + 1 - len(data))
    return data if len(data) <= limit else None
