"""Empty folders under names that commands must not create, while commands run.

A mount needs a target, so a name can only be protected if it exists. The target is an empty folder: git does not list
one, and removing it cannot remove anything else. Each is recorded before it is created, so that the next run cleans up
after one that was killed.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator, Sequence
from hashlib import sha256

from marid.core.errors import Unavailable
from marid.workspace.plain_files import make_private_folder


class Placeholders:
    """`folder` has one record per root, which is also a lock that the commands of that root share."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def hold(self, root: str, names: Sequence[str]) -> Generator[None]:
        """Each of `names` exists in `root` meanwhile, unless this user cannot create it there. Raises: Unavailable."""
        path = os.path.join(self._folder, sha256(os.fsencode(root)).hexdigest()[:32])
        record = self._open_record(path)
        try:
            for placeholder in (os.path.join(root, name) for name in names):
                if not os.path.lexists(placeholder):
                    os.write(record, os.fsencode(placeholder) + b"\0")
                    with contextlib.suppress(OSError):  # it exists by now, or the folder is not writable
                        os.mkdir(placeholder, 0o755)
            yield
        finally:
            _remove_placeholders(record, path)
            os.close(record)

    def remove_stale(self) -> None:
        """Remove what killed runs have left, except in roots where commands run now."""
        with contextlib.suppress(FileNotFoundError):  # the folder, or a record that another process has just removed
            for name in os.listdir(self._folder):
                path = os.path.join(self._folder, name)
                record = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                _remove_placeholders(record, path)
                os.close(record)

    def _open_record(self, path: str) -> int:
        """The locked record; opened again if it was removed while we waited for the lock."""
        try:
            make_private_folder(self._folder)
            while True:
                record = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                fcntl.flock(record, fcntl.LOCK_SH)
                if _is_same_file(record, path):
                    return record
                os.close(record)
        except OSError as cause:
            raise Unavailable(f"the sandbox cannot record what it creates: {cause.strerror}") from cause


def _is_same_file(record: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(record), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _remove_placeholders(record: int, path: str) -> None:
    """Remove the recorded folders and then the record, unless other commands still share it."""
    try:
        fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    if not _is_same_file(record, path):
        return
    for made in os.pread(record, os.fstat(record).st_size, 0).split(b"\0"):
        with contextlib.suppress(OSError):  # gone, or no longer empty
            os.rmdir(made)
    os.unlink(path)
