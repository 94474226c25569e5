"""One root that may be touched, held by descriptor from the start, so that no renaming can exchange it."""

import errno
import os

from marid.core.errors import NotFound, Refused
from marid.text.display import quote_path
from marid.workspace.guard.openat import FOLDER_FLAGS, PATH_ONLY, OpenBeneath, default_opener, open_stepwise
from marid.workspace.guard.protected_files import ProtectedFiles
from marid.workspace.guard.protected_names import is_git_dir_name, is_history_file


class GuardedRoot:
    """A folder and what lies in it; with `only_file`, nothing but the file of that name in it.

    Threads may share it: nothing changes until it is closed. Raises: NotFound when there is no such folder.
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
            raise NotFound(f"'{quote_path(path)}' is no folder that can be opened") from error
        about = os.fstat(self._fd)
        self._identity = about.st_dev, about.st_ino

    def close(self) -> None:
        """Give the descriptor back."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def relative_name(self, raw: str) -> str | None:
        """The name inside this root that `raw` means, "." for the root; None if it leads elsewhere. No I/O."""
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
        """Say nothing, or raise Refused: no caller gets this name, or none may write it. No I/O."""
        if is_history_file(name.rpartition("/")[2]) or self._is_in_home(name):
            raise Refused("it is kept from every tool")
        if write and (self._is_in_git or any(map(is_git_dir_name, name.split("/")))):
            raise Refused("the git directory is written by git alone")

    def _is_in_home(self, name: str) -> bool:
        if self._home is None:
            return False
        home = self._home.casefold()
        return home == "." or f"{name.casefold()}/".startswith(f"{home}/")

    def open(self, name: str, flags: int = os.O_RDONLY, *, links: bool = True) -> int:
        """A descriptor of `name`; with `links`, a link in the root that leads into the root is followed.

        Raises: OSError, and Refused for what is withheld or when the root has gone.
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
        """A descriptor of the root by which it can be listed and synced. Raises: OSError, Refused if it has gone."""
        self._check_intact()
        return os.open(".", FOLDER_FLAGS | os.O_RDONLY, dir_fd=self._fd)

    def is_intact(self) -> bool:
        """Whether the root is still the folder that it was, and open."""
        try:
            about = os.stat(self.path)
        except OSError:
            return False
        return self._fd >= 0 and (about.st_dev, about.st_ino) == self._identity

    def _check_intact(self) -> None:
        """A root that was deleted, or whose place another folder has taken, is not served from memory."""
        if not self.is_intact():
            raise Refused("the root is gone")
