"""The roots and single files that a caller may use, and access to a folder of them for a walk."""

import os
from collections.abc import Sequence
from dataclasses import replace

from marid.core.errors import BadInput, NotFound, OutsideRoots, Refused, Unavailable
from marid.text.display import quote_path
from marid.workspace.dirfd_walk import DirfdWalk
from marid.workspace.guard.guarded_path import GuardedLister, GuardedPath, GuardedRoot
from marid.workspace.guard.openat import OpenBeneath
from marid.workspace.guard.protected_files import ProtectedFiles, has_shell_expansion
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import FolderAccess, FolderListing

_MAX_PATH, _MAX_PART = 4095, 255
_NO_USER_FILES = UserGitFiles()


class PathScope:
    """Roots and files, opened when it is made; without any, nothing may be used.

    Relative names belong to the first root. A file grants only itself. `home` is protected from all callers; `user`
    names the user's git configuration. Raises: NotFound for a root that is not a folder.
    """

    def __init__(
        self,
        roots: Sequence[str],
        files: Sequence[str] = (),
        home: str = "",
        *,
        user: UserGitFiles = _NO_USER_FILES,
        opening: OpenBeneath | None = None,
    ) -> None:
        self._roots = tuple(roots)
        self._files = tuple(files)
        self._home = home
        self._user = user
        self._opening = opening
        protected = ProtectedFiles(home, [os.path.realpath(root) for root in roots])
        self.guarded_roots = (
            *(GuardedRoot(path, protected_files=protected, opening=opening) for path in roots),
            *(one for file in files if (one := _single_file_root(file, protected, opening)) is not None),
        )

    def __enter__(self) -> "PathScope":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all descriptors; paths resolved here are refused afterwards."""
        for root in self.guarded_roots:
            root.close()

    def writable_paths(self) -> tuple[str, ...]:
        """The real paths of the roots and files."""
        return tuple(os.path.normpath(os.path.join(root.path, root.only_file)) for root in self.guarded_roots)

    def widen(self, path: str, real: str) -> "PathScope":
        """A new scope with one more path: a folder, or a single file. The caller closes both scopes.

        Raises: BadInput for a relative path, NotFound, Refused if it no longer leads to `real`, which was approved.
        """
        _check_path(path)
        if not path.startswith("/"):
            raise BadInput(f"{quote_path(path)}: must be an absolute path")
        folder = os.path.isdir(path)
        if not folder and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
            raise NotFound(f"{quote_path(path)}: not found")
        roots = (*self._roots, path) if folder else self._roots
        files = self._files if folder else (*self._files, path)
        wider = PathScope(roots, files, self._home, user=self._user, opening=self._opening)
        if real not in wider.writable_paths():
            wider.close()
            raise Refused(f"{quote_path(path)}: leads elsewhere now")
        return wider

    def resolve(self, raw: str, *, write: bool = False) -> GuardedPath:
        """The guarded path of `raw`, checked for writing with `write`. No I/O: the file need not exist.

        Raises: BadInput for an invalid path, OutsideRoots, Refused for a protected path.
        """
        _check_path(raw)
        if has_shell_expansion(raw):
            raise Refused(f"{quote_path(raw)}: `~` and variables are not expanded")
        # A relative path that leaves the first root may still lead into another one.
        path = raw if raw.startswith("/") or not self._roots else os.path.join(self.guarded_roots[0].path, raw)
        for root in self.guarded_roots:
            name = root.relative_name(path)
            if name is not None:
                found = GuardedPath(root=root, name=name, given=raw, user_git_files=self._user)
                return _check_permitted(found, write=write)
        if not path.startswith("/"):
            raise Refused(f"{quote_path(raw)}: not inside a project; use --root")
        raise OutsideRoots(
            f"'{quote_path(raw)}' is outside the project; --root DIR allows another folder", os.path.normpath(path)
        )


def _check_permitted(path: GuardedPath, *, write: bool) -> GuardedPath:
    try:
        path.root.check_allowed(path.name, write=write)
    except Refused as error:
        raise Refused(f"{path.display_path}: {error}") from error
    if write and path.given.endswith("/"):
        raise BadInput(f"{path.display_name} names a folder, not a file")
    return path


def _check_path(raw: str) -> None:
    """Raise BadInput for what cannot be a path."""
    if not raw.strip() or "\0" in raw:
        raise BadInput("the path is empty, blank or contains a NUL")
    try:
        path = os.fsencode(raw)
    except UnicodeEncodeError as error:
        raise BadInput("the path is not valid text") from error
    if len(path) > _MAX_PATH or any(len(part) > _MAX_PART for part in path.split(b"/")):
        raise BadInput(f"{quote_path(raw[:60])}...: path too long")


def _single_file_root(path: str, protected: ProtectedFiles, opening: OpenBeneath | None) -> GuardedRoot | None:
    """A root for one file, which need not exist; None if its folder does not."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        return GuardedRoot(folder, only_file=name, protected_files=protected, opening=opening)
    except NotFound:
        return None


class GuardedAccess(FolderAccess):
    """Access for a walk on behalf of a caller: to one folder, whose path has no links, without protected files."""

    def __init__(self, folder: GuardedPath) -> None:
        self.top = os.path.normpath(os.path.join(folder.root.path, folder.name))
        self.is_protected = folder.root.protected_files.is_protected_link
        self._lister = GuardedLister(folder.root, hidden=True)
        self._folder = folder

    def open(self, top: str) -> DirfdWalk:
        """Open the folder itself. Raises: NotFound, BadInput, Refused, also for another `top`."""
        if top != self.top:
            raise Refused(f"{self._folder.display_path}: leads elsewhere now")
        return DirfdWalk(self._folder.open_folder())

    def list(self, fd: int) -> FolderListing:
        """List an open folder without protected names. Raises: OSError."""
        return self._lister(fd)


def follow_links(path: GuardedPath, below: str = "") -> GuardedPath:
    """The path, or `below` from there, with all links resolved.

    Raises: BadInput for an invalid path, NotFound, Refused if it leads out of the root or is protected.
    """
    root = path.root
    if "\0" in below:
        raise BadInput(f"'{quote_path(below)}' is not a path: it contains a NUL")
    asked = replace(path, given=below or path.given)
    for follow in (os.path.normpath, os.path.realpath):
        try:
            name = root.relative_name(follow(os.path.join(root.path, path.name, below)))
        except OSError as error:  # a link was replaced by a folder while it was read
            raise Unavailable(f"{asked.display_path}: busy; try again") from error
        if name is None:
            raise Refused(f"{asked.display_path}: leads outside the project")
        asked = replace(asked, name=name)
        asked.stat()  # through the guard, which does not follow magic links such as /proc/self/root
    return asked
