"""Everything that one caller may touch: roots, the first of which resolves relative names, and single files."""

import os
from collections.abc import Sequence

from marid.core.errors import BadInput, NotFound, Outside, Refused
from marid.text.visible import shown_path
from marid.workspace.beneath import Opening
from marid.workspace.forbidden import is_expanded
from marid.workspace.ignores import UserFiles
from marid.workspace.place import Place
from marid.workspace.tree import Tree
from marid.workspace.withheld import Withheld

_MOST_PATH, _MOST_PART = 4095, 255
_NOBODY = UserFiles()


class Territory:
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
        user: UserFiles = _NOBODY,
        opening: Opening | None = None,
    ) -> None:
        self._roots = tuple(roots)
        self._files = tuple(files)
        self._home = home
        self._user = user
        self._opening = opening
        withheld = Withheld(home, [os.path.realpath(root) for root in roots])
        self.trees = (
            *(Tree(root, withheld=withheld, opening=opening) for root in roots),
            *(tree for file in files if (tree := _single(file, withheld, opening)) is not None),
        )

    def __enter__(self) -> "Territory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give all descriptors back; places that were made here are refused from then on."""
        for tree in self.trees:
            tree.close()

    def widened(self, path: str, real: str) -> "Territory":
        """This and one more path: a folder with all that is in it, or a file alone. Both are to be closed.

        Raises: BadInput for what is no absolute path, NotFound for a path whose folder is not there, Refused for one
        that leads elsewhere than to `real`, which somebody agreed to.
        """
        _check(path)
        if not path.startswith("/"):
            raise BadInput(f"'{shown_path(path)}' must be given whole, with a slash in front")
        folder = os.path.isdir(path)
        if not folder and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
            raise NotFound(f"'{shown_path(path)}' is not there")
        roots = (*self._roots, path) if folder else self._roots
        files = self._files if folder else (*self._files, path)
        made = Territory(roots, files, self._home, user=self._user, opening=self._opening)
        if real not in (os.path.normpath(os.path.join(tree.path, tree.only)) for tree in made.trees):
            made.close()
            raise Refused(f"'{shown_path(path)}' is refused: it leads elsewhere now")
        return made

    def place(self, raw: str, *, write: bool = False) -> Place:
        """Where `raw` leads; with `write`, a place that may be written. No I/O: says nothing about what is there.

        Raises: BadInput for what is no path, Outside for what leads outside, Refused for what is withheld.
        """
        _check(raw)
        if is_expanded(raw):
            raise Refused(f"'{shown_path(raw)}' is refused: tildes and variables mean nothing here")
        # A relative path that leaves the first root may still lead into another one.
        path = raw if raw.startswith("/") or not self._roots else os.path.join(self.trees[0].path, raw)
        for tree in self.trees:
            name = tree.name(path)
            if name is not None:
                return _permitted(Place(tree=tree, name=name, given=raw, user=self._user), write=write)
        if not path.startswith("/"):
            raise Refused(f"'{shown_path(raw)}' is refused: there is no project that it could be in")
        raise Outside(f"'{shown_path(raw)}' is outside the project", os.path.normpath(path))


def _permitted(place: Place, *, write: bool) -> Place:
    try:
        place.tree.permit(place.name, write=write)
    except Refused as error:
        raise Refused(f"{place.shown} is refused: {error}") from error
    if write and place.given.endswith("/"):
        raise BadInput(f"{place.shown} names a folder, not a file")
    return place


def _check(raw: str) -> None:
    """Raise BadInput for what no file system takes as a path."""
    if not raw.strip() or "\0" in raw:
        raise BadInput("a path is needed: this one is empty, blank or holds a NUL")
    try:
        path = os.fsencode(raw)
    except UnicodeEncodeError as error:
        raise BadInput("a path must be text that can be a file name") from error
    if len(path) > _MOST_PATH or any(len(part) > _MOST_PART for part in path.split(b"/")):
        raise BadInput(f"'{shown_path(raw[:60])}...' is too long for a path")


def _single(path: str, withheld: Withheld, opening: Opening | None) -> Tree | None:
    """The grant of one file, which need not be there; None while its folder is not."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        return Tree(folder, only=name, withheld=withheld, opening=opening)
    except NotFound:
        return None
