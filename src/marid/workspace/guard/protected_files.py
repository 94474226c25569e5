"""Files that no caller may use: marid's home, history files, and hard links to either."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from marid.workspace.dirfd_walk import Identity, identity_of
from marid.workspace.guard.protected_names import is_history_file, without_history_files

# A file system's clock may lag behind by some ticks.
_CLOCK_LAG_NS = 50_000_000
_FUTURE_NS = 1_000_000_000


class StatFields(Protocol):
    """The part of `os.stat_result` that is used here."""

    @property
    def st_dev(self) -> int: ...
    @property
    def st_ino(self) -> int: ...
    @property
    def st_nlink(self) -> int: ...
    @property
    def st_ctime_ns(self) -> int: ...


class InodeSnapshot(NamedTuple):
    """The protected files as they were at a time, in nanoseconds."""

    identities: frozenset[Identity]
    taken_at: int


class ProtectedFiles:
    """Knows the home and finds hard links; `roots` are searched for history files only if a file has a second name."""

    def __init__(self, home: str = "", roots: Sequence[str] = ()) -> None:
        self.home = os.path.realpath(home) if home else ""
        self._roots = tuple(roots)
        self._inodes = InodeSnapshot(frozenset(), 0)

    def home_below(self, root: str) -> str | None:
        """The name of the home below `root`; "." if `root` is in the home; None if they are apart."""
        if not self.home:
            return None
        prefix = root.rstrip("/") + "/"
        if prefix.startswith(self.home.rstrip("/") + "/"):
            return "."
        return self.home[len(prefix) :] if self.home.startswith(prefix) else None

    def is_protected_link(self, about: StatFields) -> bool:
        """Whether an open file is a hard link to a protected one. Cheap for a file with one name."""
        if about.st_nlink < 2:
            return False
        known = self._inodes
        # A new link changes the ctime, so the snapshot is right for a file that is older than the snapshot.
        if about.st_ctime_ns >= known.taken_at - _CLOCK_LAG_NS and not _is_from_future(
            about.st_ctime_ns, known.taken_at
        ):
            now = time.time_ns()
            known = self._inodes = InodeSnapshot(frozenset(self._collect_identities()), now)
        return (about.st_dev, about.st_ino) in known.identities

    def _collect_identities(self) -> Iterator[Identity]:
        for root in self._roots:
            yield from _file_identities(root, histories=True)
        if self.home:
            yield from _file_identities(self.home, histories=False)


def _is_from_future(changed: int, gathered: int) -> bool:
    """Whether the ctime lies in the future and the snapshot is fresh: taking it again would not help."""
    now = time.time_ns()
    return changed > now + _FUTURE_NS and now - gathered < _FUTURE_NS


def _file_identities(top: str, *, histories: bool) -> Iterator[Identity]:
    for folder, _, files in os.walk(top):
        for name in files:
            if histories and not is_history_file(name):
                continue
            try:
                about = os.lstat(os.path.join(folder, name))
            except OSError:
                continue
            yield about.st_dev, about.st_ino


class ListingFilter:
    """Removes protected names from listings of folders below `root`."""

    def __init__(self, protected: ProtectedFiles, root: str) -> None:
        inside = protected.home_below(root)
        self._home = os.path.basename(protected.home) if inside else ""
        self._parent = _path_identity(os.path.dirname(protected.home)) if inside else None

    def visible_names(self, names: list[str], fd: int) -> list[str]:
        """Those of `names` in the open folder `fd` that are not protected."""
        if self._parent is not None and self._home in names and identity_of(fd) == self._parent:
            names = [name for name in names if name != self._home]
        return without_history_files(names)


def _path_identity(path: str) -> Identity | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino
