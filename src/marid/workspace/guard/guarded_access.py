"""Access to folders through the guard, for a walk on behalf of a caller: without protected files."""

import os
from dataclasses import replace

from marid.core.errors import BadInput, Refused, Unavailable
from marid.text.display import quote_path
from marid.workspace.dirfd_walk import DirfdWalk
from marid.workspace.guard.guarded_path import GuardedLister, GuardedPath
from marid.workspace.guard.protected_files import ListingFilter
from marid.workspace.walk import FolderAccess, FolderListing


class GuardedAccess(FolderAccess):
    """Access to one folder, whose path has no links, and to what is below it."""

    def __init__(self, folder: GuardedPath) -> None:
        protected = folder.root.protected_files
        self.top = os.path.normpath(os.path.join(folder.root.path, folder.name))
        self.is_protected = protected.is_protected_link
        self._lister = GuardedLister(ListingFilter(protected, folder.root.path), hidden=True)
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
