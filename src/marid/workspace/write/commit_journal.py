"""The journal of a commit in the home, from which the next start recovers a commit that was killed."""

import contextlib
import fcntl
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from marid.core.errors import Unavailable
from marid.workspace.write.atomic import write_all
from marid.workspace.write.private_folders import make_private_folder

JOURNAL_FOLDER = "edits"
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND | os.O_CLOEXEC


class JournalLine(NamedTuple):
    """One file of a commit, in `folder` below `root`, whose device and inode are `identity`.

    `temp` has the new content, `backup` the old; `before` and `after` are hashes, "" without a file.
    """

    root: str
    folder: str
    identity: tuple[int, int]
    name: str
    temp: str
    backup: str
    before: str
    after: str


class CommitJournal:
    """The journal of one commit; its lock tells other processes that the commit is running."""

    def __init__(self, home: str, token: str, lines: Sequence[JournalLine]) -> None:
        """Raises: Unavailable when the home cannot be written."""
        self._path = os.path.join(home, JOURNAL_FOLDER, f"{token}.json")
        try:
            make_private_folder(os.path.dirname(self._path))
            self._fd = os.open(self._path, _CREATE, 0o600)
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
                write_all(self._fd, [_encode_lines(lines)])
            except BaseException:
                self.close(done=True)
                raise
        except OSError as error:
            raise Unavailable(f"cannot write to the home: {(error.strerror or 'unknown error').lower()}") from error

    def mark_ready(self) -> None:
        """From now on recovery completes the commit instead of undoing it. Raises: OSError."""
        write_all(self._fd, [b"ready\n"])
        os.fsync(self._fd)
        folder = os.open(os.path.dirname(self._path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self, *, done: bool) -> None:
        """Close the journal, and remove it if `done`; otherwise the next start recovers it."""
        with contextlib.suppress(OSError):
            if done:
                os.unlink(self._path)
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)


class AbandonedJournal(NamedTuple):
    """A journal whose process has ended."""

    path: str
    fd: int
    lines: tuple[JournalLine, ...]
    ready: bool


def find_abandoned(home: str) -> list[AbandonedJournal]:
    """The journals of killed commits, locked until they are released."""
    folder = os.path.join(home, JOURNAL_FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = (_take_over(os.path.join(folder, name)) for name in names if name.endswith(".json"))
    return [left for left in found if left is not None]


def release_journal(left: AbandonedJournal, *, done: bool) -> None:
    """Close a journal, and remove it if `done`."""
    with contextlib.suppress(OSError):
        if done:
            os.unlink(left.path)
    os.close(left.fd)


def _take_over(path: str) -> AbandonedJournal | None:
    """Lock and read a journal; None if its process still runs."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_nlink:
            with os.fdopen(os.dup(fd), "rb") as file:
                plan, _, rest = file.read().partition(b"\n")
            return AbandonedJournal(path, fd, _decode_lines(plan), ready=rest.startswith(b"ready\n"))
    except OSError:
        pass  # it is in use
    os.close(fd)
    return None


def _encode_lines(lines: Sequence[JournalLine]) -> bytes:
    import json

    return json.dumps(lines).encode() + b"\n"


def _decode_lines(plan: bytes) -> tuple[JournalLine, ...]:
    """The lines; empty if they were not written completely, since then nothing had been done."""
    import json

    try:
        rows = cast("list[list[Any]]", json.loads(plan))
    except ValueError:
        return ()
    return tuple(JournalLine._make(row)._replace(identity=(row[2][0], row[2][1])) for row in rows)
