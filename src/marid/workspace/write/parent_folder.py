"""The folder that a file is written into: opened from the root without links, and created if needed."""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.workspace.dirfd_walk import identity_of
from marid.workspace.guard.guarded_path import GIT_DIRECTORY, GuardedPath
from marid.workspace.guard.openat import make_os_error, open_component

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_LOCK_TIMEOUT = 10.0
_SYNC_UNSUPPORTED = (errno.EINVAL, errno.EOPNOTSUPP)


class ParentFolder:
    """An open folder, and the name of a file in it."""

    def __init__(self, path: GuardedPath, fds: list[int], made: list[tuple[int, str]]) -> None:
        self.path = path
        self.name = path.name.rpartition("/")[2]
        self.fd = fds[-1]
        self.identity = identity_of(self.fd)
        self._fds = fds
        self._created = made

    def close(self) -> None:
        _close_all(self._fds)

    def remove_created(self) -> None:
        """Remove the folders that were created, if they are still empty."""
        _remove_folders(self._created)

    def sync(self) -> None:
        """Sync this folder and those that were created. Raises: OSError."""
        for folder in {self.fd, *(folder for folder, _ in self._created)}:
            try:
                os.fsync(folder)
            except OSError as error:
                if error.errno not in _SYNC_UNSUPPORTED:
                    raise

    def open_target(self) -> int | None:
        """Open the present file; None without one.

        Raises: OSError, with ELOOP for a link; BadInput if it is not a regular file; Refused if it is protected.
        """
        try:
            found = open_component(self.fd, self.name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        if isinstance(found, str):
            raise make_os_error(errno.ELOOP)
        try:
            self.path.check_regular(os.fstat(found))
        except BaseException:
            os.close(found)
            raise
        return found


def open_parent(path: GuardedPath, *, make: bool) -> ParentFolder:
    """Open the folder of a path; with `make` create it if needed. On an error no created folder is left.

    Raises: NotFound, Refused for links, git directories and protected paths, BadInput, Unavailable.
    """
    with path.naming_errors():
        path.root.check_allowed(path.name, write=True)
        if path.name == ".":
            raise make_os_error(errno.EISDIR)
        fds = [path.root.open_root()]
        made: list[tuple[int, str]] = []
        try:
            parts = path.name.split("/")
            for at, part in enumerate(parts[:-1]):
                _refuse_git_dir(fds[-1], parts[at:])
                fds.append(_open_or_create(fds[-1], part, made if make else None))
            _refuse_git_dir(fds[-1], parts[-1:])
        except BaseException as error:
            _remove_folders(made)
            _close_all(fds)
            if isinstance(error, NotADirectoryError):
                raise BadInput(f"{path.display_name} leads through a file") from error
            raise
        return ParentFolder(path, fds, made)


def check_writable(path: GuardedPath) -> None:
    """Raise what a commit would raise now, without writing: no approval is asked for a plan that would fail."""
    try:
        parent = open_parent(path, make=False)
    except NotFound:
        return  # the folder will be created
    try:
        with path.naming_errors():
            found = parent.open_target()
            if found is not None:
                os.close(found)
    finally:
        parent.close()


def _open_or_create(folder: int, part: str, made: list[tuple[int, str]] | None) -> int:
    try:
        found = open_component(folder, part, _FOLDER)
    except FileNotFoundError:
        if made is None:
            raise
        # Another process may create it at the same time.
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=folder)
            made.append((folder, part))
        found = open_component(folder, part, _FOLDER)
    if isinstance(found, str):
        raise make_os_error(errno.ELOOP)
    return found


def _refuse_git_dir(folder: int, rest: Sequence[str]) -> None:
    """Refuse to write `rest` into a folder that is a git directory, or would become one, whatever its name.

    A `.git` file may point to any folder, and a bare repository has no `.git`.
    """

    def exists(name: str) -> bool:
        try:
            os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return False
        return True

    if rest[0] != "HEAD" and not exists("HEAD"):
        return
    if exists("commondir") or all(name == rest[0] or exists(name) for name in ("objects", "refs")):
        raise Refused(GIT_DIRECTORY)


@contextmanager
def lock_folders(parents: Iterable[ParentFolder], timeout: float = _LOCK_TIMEOUT) -> Generator[None]:
    """Lock the folders against commits of other processes, without lock files. Raises: Unavailable after `timeout`."""
    each = {parent.identity: parent for parent in parents}
    taken: list[int] = []
    deadline = time.monotonic() + timeout
    try:
        for _, parent in sorted(each.items(), key=lambda pair: pair[0]):
            _lock_one(parent, deadline)
            taken.append(parent.fd)
        yield
    finally:
        for fd in taken:
            # Unlock explicitly: a child forked meanwhile keeps the descriptor open.
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)


def _lock_one(parent: ParentFolder, deadline: float) -> None:
    pause = 0.001
    # A file system without locks raises another OSError: comparing contents still protects.
    with contextlib.suppress(OSError):
        while True:
            try:
                return fcntl.flock(parent.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    busy = f"{parent.path.display_name} is being written by another process; try again"
                    raise Unavailable(busy) from error
                time.sleep(pause)
                pause = min(pause * 2, 0.05)


def _remove_folders(made: Sequence[tuple[int, str]]) -> None:
    for folder, name in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=folder)


def _close_all(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())
