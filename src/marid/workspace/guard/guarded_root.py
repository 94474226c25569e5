"""A root that a caller may use, held by descriptor, so that it cannot be swapped by renaming."""

import errno
import os

from marid.core.errors import NotFound, Refused
from marid.text.display import quote_path
from marid.workspace.guard.openat import FOLDER_FLAGS, PATH_ONLY, OpenBeneath, default_opener, open_stepwise
from marid.workspace.guard.protected_files import ProtectedFiles, is_git_dir_name, is_history_file

PROTECTED = "protected: no tool may use it"
GIT_DIRECTORY = "only git may write its own directory"


class GuardedRoot:
    """A folder; with `only_file`, only the file of that name in it. Threads may share it. Raises: NotFound."""

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
        about = os.fstat(self._fd)
        self._identity = about.st_dev, about.st_ino

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
        if is_history_file(name.rpartition("/")[2]) or self._is_in_home(name):
            raise Refused(PROTECTED)
        if write and (self._is_in_git or any(map(is_git_dir_name, name.split("/")))):
            raise Refused(GIT_DIRECTORY)

    def _is_in_home(self, name: str) -> bool:
        if self._home is None:
            return False
        home = self._home.casefold()
        return home == "." or f"{name.casefold()}/".startswith(f"{home}/")

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

    def is_intact(self) -> bool:
        """Whether the root is open and its path still leads to the same folder."""
        try:
            about = os.stat(self.path)
        except OSError:
            return False
        return self._fd >= 0 and (about.st_dev, about.st_ino) == self._identity

    def _check_intact(self) -> None:
        if not self.is_intact():
            raise Refused("the project folder is gone")
