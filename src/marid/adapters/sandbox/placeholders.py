"""Empty folders that stand for names which must not come to be, while commands run, and that do not stay.

A mount needs something to be mounted on: a name that is not there can only be held by putting something there. It is an
empty folder, because git does not list one and taking it away again cannot take anything else. What was made is written
down before it is made, so that a run that was killed is cleaned up after by the next.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator, Sequence
from hashlib import sha256

from marid.core.errors import Unavailable
from marid.workspace.write.private_folders import make_private_folder


class Placeholders:
    """`folder` keeps one record for each root, which is also a lock that the commands of that root share."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def hold(self, root: str, names: Sequence[str]) -> Generator[None]:
        """While this lasts each of `names` is in `root`, unless nobody like us can make it there.

        Raises: Unavailable if no record can be kept.
        """
        path = os.path.join(self._folder, sha256(os.fsencode(root)).hexdigest()[:32])
        record = self._open_record(path)
        try:
            for name in names:
                _create_placeholder(record, os.path.join(root, name))
            yield
        finally:
            _remove_placeholders(record, path)
            os.close(record)

    def remove_stale(self) -> None:
        """Take away what runs that were killed have left, except where commands run now."""
        with contextlib.suppress(FileNotFoundError):  # the folder, or a record that another has just removed
            for name in os.listdir(self._folder):
                path = os.path.join(self._folder, name)
                record = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                _remove_placeholders(record, path)
                os.close(record)

    def _open_record(self, path: str) -> int:
        """The record, locked; the one that is there, not one that was removed while we waited."""
        try:
            make_private_folder(self._folder)
            while True:
                record = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                fcntl.flock(record, fcntl.LOCK_SH)
                if _is_same_file(record, path):
                    return record
                os.close(record)
        except OSError as cause:
            raise Unavailable(f"the sandbox can keep no record of what it makes: {cause.strerror}") from cause


def _is_same_file(record: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(record), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _create_placeholder(record: int, path: str) -> None:
    if os.path.lexists(path):
        return
    os.write(record, os.fsencode(path) + b"\0")
    with contextlib.suppress(OSError):  # it has just come to be, or a folder that we may not write
        os.mkdir(path, 0o755)


def _remove_placeholders(record: int, path: str) -> None:
    """Remove what the record names and then the record, unless others still share it: whoever leaves last does it."""
    try:
        fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    if not _is_same_file(record, path):
        return
    for made in os.pread(record, os.fstat(record).st_size, 0).split(b"\0"):
        with contextlib.suppress(OSError):  # gone, or no longer empty and so somebody's own
            os.rmdir(made)
    os.unlink(path)
