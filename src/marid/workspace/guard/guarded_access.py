"""Folders for a caller's walk: opened beneath the root and listed without what no caller may read."""

import os
from dataclasses import replace

from marid.core.errors import BadInput, Refused, Unavailable
from marid.text.display import quote_path
from marid.workspace.dirfd_walk import DirfdWalk
from marid.workspace.guard.guarded_path import GuardedLister, GuardedPath
from marid.workspace.guard.protected_files import ListingFilter
from marid.workspace.walk import FolderAccess, FolderListing


class GuardedAccess(FolderAccess):
    """Access to one folder, whose path leads through no link, and to what is below it."""

    def __init__(self, folder: GuardedPath) -> None:
        protected = folder.root.protected_files
        self.top = os.path.normpath(os.path.join(folder.root.path, folder.name))
        self.is_protected = protected.is_protected_link
        self._lister = GuardedLister(ListingFilter(protected, folder.root.path), hidden=True)
        self._folder = folder

    def open(self, top: str) -> DirfdWalk:
        """Open the folder itself. Raises: NotFound, BadInput, Refused, also for another `top`."""
        if top != self.top:
            raise Refused(f"{self._folder.display_name} is refused: it leads elsewhere now")
        return DirfdWalk(self._folder.open_folder())

    def list(self, fd: int) -> FolderListing:
        """What a caller may know of an open folder. Raises: OSError."""
        return self._lister(fd)


def follow_links(path: GuardedPath, below: str = "") -> GuardedPath:
    """The path, or `below` from there, by a name that leads through no link, and its kind has been looked at.

    Raises: BadInput for what is not a path, NotFound, Refused for what leads out of the root or is kept from callers.
    """
    root = path.root
    if "\0" in below:
        raise BadInput(f"'{quote_path(below)}' is not a path: it holds a NUL")
    asked = replace(path, given=below or path.given)
    for follow in (os.path.normpath, os.path.realpath):
        try:
            name = root.relative_name(follow(os.path.join(root.path, path.name, below)))
        except OSError as error:  # a link was exchanged for a folder while it was read
            raise Unavailable(f"{asked.display_name} is being moved about; try again") from error
        if name is None:
            raise Refused(f"{asked.display_name} leads outside the project")
        asked = replace(asked, name=name)
        asked.stat()  # through the guard: it follows no link of the kernel's, such as /proc/self/root
    return asked
