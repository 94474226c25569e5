"""What a commit is about to do, kept in the home while it does it, so that the next start can end what a kill cut."""

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
    """One file of a commit. `folder` is relative to `root` and known by `device` and `inode`; names lie in it.

    `temp` will hold the new bytes, `backup` the old ones ("": none); `before` and `after` are hashes ("": no file).
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
    """One commit's file, which nobody else takes for left behind while it is held."""

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
            raise Unavailable(f"the home cannot be written: {(error.strerror or 'unknown error').lower()}") from error

    def mark_ready(self) -> None:
        """From here on the commit is finished rather than undone. Raises: OSError."""
        write_all(self._fd, [b"ready\n"])
        os.fsync(self._fd)
        folder = os.open(os.path.dirname(self._path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self, *, done: bool) -> None:
        """End it; one that is not `done` stays for the next start."""
        with contextlib.suppress(OSError):
            if done:
                os.unlink(self._path)
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)


class AbandonedJournal(NamedTuple):
    """A journal that nobody holds any more."""

    path: str
    fd: int
    lines: tuple[JournalLine, ...]
    ready: bool


def find_abandoned(home: str) -> list[AbandonedJournal]:
    """Every journal of a commit that was killed, held by us until it is dropped or let go."""
    folder = os.path.join(home, JOURNAL_FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = (_take_over(os.path.join(folder, name)) for name in names if name.endswith(".json"))
    return [left for left in found if left is not None]


def release_journal(left: AbandonedJournal, *, done: bool) -> None:
    """Let it go, and remove it if it is `done`."""
    with contextlib.suppress(OSError):
        if done:
            os.unlink(left.path)
    os.close(left.fd)


def _take_over(path: str) -> AbandonedJournal | None:
    """The journal, if its owner is dead."""
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
    """The lines; none of a plan that was cut while it was written: then nothing had been done yet."""
    import json

    try:
        rows = cast("list[list[Any]]", json.loads(plan))
    except ValueError:
        return ()
    return tuple(JournalLine._make(row)._replace(identity=(row[2][0], row[2][1])) for row in rows)
