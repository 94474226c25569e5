"""Everything that one caller may touch: roots, the first of which resolves relative names, and single files."""

import os
from collections.abc import Sequence

from marid.core.errors import BadInput, NotFound, OutsideRoots, Refused
from marid.text.display import quote_path
from marid.workspace.guard.guarded_path import GuardedPath
from marid.workspace.guard.guarded_root import GuardedRoot
from marid.workspace.guard.openat import OpenBeneath
from marid.workspace.guard.protected_files import ProtectedFiles
from marid.workspace.guard.protected_names import has_shell_expansion
from marid.workspace.rules.ignore_files import UserGitFiles

_MAX_PATH, _MAX_PART = 4095, 255
_NO_USER_FILES = UserGitFiles()


class PathScope:
    """Roots and files, pinned when it is made. Nothing given means that nothing may be touched.

    A single file grants itself, not its folder. `home` is kept from every caller; `user` says where this user's ignore
    rules are. Raises: NotFound for a root that is no folder.
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
        withheld = ProtectedFiles(home, [os.path.realpath(root) for root in roots])
        self.guarded_roots = (
            *(GuardedRoot(root, protected_files=withheld, opening=opening) for root in roots),
            *(tree for file in files if (tree := _single_file_root(file, withheld, opening)) is not None),
        )

    def __enter__(self) -> "PathScope":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give all descriptors back; places that were made here are refused from then on."""
        for tree in self.guarded_roots:
            tree.close()

    def widen(self, path: str, real: str) -> "PathScope":
        """This and one more path: a folder with all that is in it, or a file alone. Both are to be closed.

        Raises: BadInput for what is no absolute path, NotFound for a path whose folder is not there, Refused for one
        that leads elsewhere than to `real`, which somebody agreed to.
        """
        _check_path(path)
        if not path.startswith("/"):
            raise BadInput(f"'{quote_path(path)}' must be given whole, with a slash in front")
        folder = os.path.isdir(path)
        if not folder and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
            raise NotFound(f"'{quote_path(path)}' is not there")
        roots = (*self._roots, path) if folder else self._roots
        files = self._files if folder else (*self._files, path)
        made = PathScope(roots, files, self._home, user=self._user, opening=self._opening)
        if real not in (os.path.normpath(os.path.join(tree.path, tree.only_file)) for tree in made.guarded_roots):
            made.close()
            raise Refused(f"'{quote_path(path)}' is refused: it leads elsewhere now")
        return made

    def resolve(self, raw: str, *, write: bool = False) -> GuardedPath:
        """Where `raw` leads; with `write`, a place that may be written. No I/O: says nothing about what is there.

        Raises: BadInput for what is no path, Outside for what leads outside, Refused for what is withheld.
        """
        _check_path(raw)
        if has_shell_expansion(raw):
            raise Refused(f"'{quote_path(raw)}' is refused: tildes and variables mean nothing here")
        # A relative path that leaves the first root may still lead into another one.
        path = raw if raw.startswith("/") or not self._roots else os.path.join(self.guarded_roots[0].path, raw)
        for tree in self.guarded_roots:
            name = tree.relative_name(path)
            if name is not None:
                return _check_permitted(
                    GuardedPath(root=tree, name=name, given=raw, user_git_files=self._user), write=write
                )
        if not path.startswith("/"):
            raise Refused(f"'{quote_path(raw)}' is refused: there is no project that it could be in")
        raise OutsideRoots(
            f"'{quote_path(raw)}' is outside the project; --root DIR allows another folder", os.path.normpath(path)
        )


def _check_permitted(place: GuardedPath, *, write: bool) -> GuardedPath:
    try:
        place.root.check_allowed(place.name, write=write)
    except Refused as error:
        raise Refused(f"{place.display_name} is refused: {error}") from error
    if write and place.given.endswith("/"):
        raise BadInput(f"{place.display_name} names a folder, not a file")
    return place


def _check_path(raw: str) -> None:
    """Raise BadInput for what no file system takes as a path."""
    if not raw.strip() or "\0" in raw:
        raise BadInput("a path is needed: this one is empty, blank or holds a NUL")
    try:
        path = os.fsencode(raw)
    except UnicodeEncodeError as error:
        raise BadInput("a path must be text that can be a file name") from error
    if len(path) > _MAX_PATH or any(len(part) > _MAX_PART for part in path.split(b"/")):
        raise BadInput(f"'{quote_path(raw[:60])}...' is too long for a path")


def _single_file_root(path: str, withheld: ProtectedFiles, opening: OpenBeneath | None) -> GuardedRoot | None:
    """The grant of one file, which need not be there; None while its folder is not."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        return GuardedRoot(folder, only_file=name, protected_files=withheld, opening=opening)
    except NotFound:
        return None
