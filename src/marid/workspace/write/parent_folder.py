"""The folder that a file is written into: reached from the root through no link, and made if it is not there."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.workspace.dirfd_walk import Identity, identity_of
from marid.workspace.guard.guarded_path import GuardedPath
from marid.workspace.guard.openat import make_os_error, open_component, to_marid_error

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_LOCK_TIMEOUT = 10.0
_SYNC_UNSUPPORTED = (errno.EINVAL, errno.EOPNOTSUPP)


class ParentFolder:
    """An open folder with the name of a file in it. `undo` removes the folders that were made on the way."""

    def __init__(self, place: GuardedPath, fds: list[int], made: list[tuple[int, str]]) -> None:
        self.place = place
        self.name = place.name.rpartition("/")[2]
        self.fd = fds[-1]
        self.identity = identity_of(self.fd)
        self._fds = fds
        self._created = made

    def close(self) -> None:
        """Give the descriptors back."""
        _close_all(self._fds)

    def remove_created(self) -> None:
        """Remove what was made, as far as nobody has put anything into it."""
        _remove_folders(self._created)

    def sync(self) -> None:
        """Have the names in this folder, and in those that were made, on the disk. Raises: OSError."""
        for folder in {self.fd, *(folder for folder, _ in self._created)}:
            try:
                os.fsync(folder)
            except OSError as error:
                if error.errno not in _SYNC_UNSUPPORTED:
                    raise

    def open_target(self) -> int | None:
        """A descriptor of the file as it is; None when there is none.

        Raises: OSError, ELOOP for a link; BadInput for what is no regular file; Refused for what is withheld.
        """
        try:
            found = open_component(self.fd, self.name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        if isinstance(found, str):
            raise make_os_error(errno.ELOOP)
        about = os.fstat(found)
        if stat.S_ISREG(about.st_mode) and not self.place.root.protected_files.is_protected_link(about):
            return found
        os.close(found)
        if stat.S_ISDIR(about.st_mode):
            raise BadInput(f"{self.place.display_name} is a folder, not a file")
        if not stat.S_ISREG(about.st_mode):
            raise BadInput(f"{self.place.display_name} is not a regular file")
        raise Refused("it is kept from every tool")


@contextmanager
def wrap_os_errors(place: GuardedPath) -> Generator[None]:
    """Errors of the system, and refusals that name nothing, become errors that name the place."""
    try:
        yield
    except OSError as error:
        raise to_marid_error(error, place.given or place.name) from error
    except Refused as error:
        raise Refused(f"{place.display_name} is refused: {error}") from error


def open_parent(place: GuardedPath, *, make: bool) -> ParentFolder:
    """The folder of `place`, made if need be and with `make`. Whatever goes wrong, nothing is left behind.

    Raises: NotFound, Refused for links, the git directory and what is withheld, BadInput, Unavailable.
    """
    with wrap_os_errors(place):
        place.root.check_allowed(place.name, write=True)
        if place.name == ".":
            raise make_os_error(errno.EISDIR)
        fds = [place.root.open_root()]
        made: list[tuple[int, str]] = []
        try:
            parts = place.name.split("/")
            for at, part in enumerate(parts[:-1]):
                _refuse_git_dir(fds[-1], parts[at:])
                fds.append(_open_or_create(fds[-1], part, made if make else None))
            _refuse_git_dir(fds[-1], parts[-1:])
        except BaseException as error:
            _remove_folders(made)
            _close_all(fds)
            if isinstance(error, NotADirectoryError):
                raise BadInput(f"{place.display_name} leads through a file") from error
            raise
        return ParentFolder(place, fds, made)


def check_writable(place: GuardedPath) -> None:
    """Raise what a commit would raise now, without touching anything; a plan that cannot be done is not asked for."""
    try:
        parent = open_parent(place, make=False)
    except NotFound:
        return  # it will be made
    try:
        with wrap_os_errors(place):
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
        # Somebody else may make it at the same time.
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=folder)
            made.append((folder, part))
        found = open_component(folder, part, _FOLDER)
    if isinstance(found, str):
        raise make_os_error(errno.ELOOP)
    return found


def _refuse_git_dir(folder: int, rest: Sequence[str]) -> None:
    """Refuse to write `rest` into a folder that git takes, or would then take, for a git directory of any name.

    A `.git` file may point anywhere, and a bare repository needs none.
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
        raise Refused("the git directory is written by git alone")


@contextmanager
def lock_folders(parents: Iterable[ParentFolder], timeout: float = _LOCK_TIMEOUT) -> Generator[None]:
    """No other commit, of this process or another, changes these folders meanwhile. No file is made for it.

    Raises: Unavailable when somebody else does not finish.
    """
    each: dict[Identity, ParentFolder] = {}
    for parent in parents:
        each.setdefault(parent.identity, parent)
    taken: list[int] = []
    until = time.monotonic() + timeout
    try:
        for _, parent in sorted(each.items(), key=lambda pair: pair[0]):
            _lock_one(parent, until)
            taken.append(parent.fd)
        yield
    finally:
        for fd in taken:
            # Closing would not do: a child that was forked meanwhile has the descriptor too.
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)


def _lock_one(parent: ParentFolder, until: float) -> None:
    pause = 0.001
    while True:
        try:
            fcntl.flock(parent.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise Unavailable(f"{parent.place.display_name} is being written by another; try again") from error
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
        except OSError:
            return  # a file system without locks: what is compared still protects
        else:
            return


def _remove_folders(made: Sequence[tuple[int, str]]) -> None:
    for folder, name in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=folder)


def _close_all(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())
