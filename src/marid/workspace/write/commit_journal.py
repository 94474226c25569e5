"""The journal of a commit in the home, from which the next start completes or undoes a commit that was killed."""

import contextlib
import fcntl
import json
import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, cast

from marid.core.errors import Unavailable
from marid.text.content_hash import sha256_hex
from marid.workspace.dirfd_walk import identity_of, read_regular
from marid.workspace.guard.openat import FOLDER_FLAGS, open_stepwise
from marid.workspace.plain_files import make_private_folder, write_all

MAX_WRITTEN_BYTES = 64_000_000
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
                write_all(self._fd, [json.dumps(lines).encode() + b"\n"])
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


def _decode_lines(plan: bytes) -> tuple[JournalLine, ...]:
    """The lines; empty if they were not written completely, since then nothing had been done."""
    try:
        rows = cast("list[list[Any]]", json.loads(plan))
    except ValueError:
        return ()
    return tuple(JournalLine._make(row)._replace(identity=(row[2][0], row[2][1])) for row in rows)


def recover_commits(home: str) -> int:
    """Complete or undo every killed commit of this home, and remove its temporary files; returns how many.

    A commit that had begun to rename is completed, or undone if one of its files was changed since. If its folders are
    missing now, it is left for a later start.
    """
    count = 0
    for journal in find_abandoned(home):
        done = False
        try:
            done = _finish_or_undo(journal)
        finally:
            release_journal(journal, done=done)
        count += done
    return count


def _finish_or_undo(left: AbandonedJournal) -> bool:
    with ExitStack() as stack:
        folders: list[int] = []
        for line in left.lines:
            fd = stack.enter_context(_locked_folder(line))
            if fd is None:
                return not left.ready  # its temporary files are gone with their folder
            folders.append(fd)
        pairs = list(zip(left.lines, folders, strict=True))
        with contextlib.suppress(OSError):
            if left.ready:
                _replay(pairs)
            for line, fd in pairs:
                for name in (line.temp, line.backup):
                    _remove_temp(name, fd)
                os.fsync(fd)
            return True
    return False


def _replay(pairs: Sequence[tuple[JournalLine, int]]) -> None:
    states = [_content_state(line.name, fd) for line, fd in pairs]
    forward = all(state in (line.before, line.after) for state, (line, _) in zip(states, pairs, strict=True))
    for state, (line, fd) in zip(states, pairs, strict=True):
        if forward and state == line.before:
            # A temporary file with other content is not ours.
            if _content_state(line.temp, fd) == line.after:
                os.replace(line.temp, line.name, src_dir_fd=fd, dst_dir_fd=fd)
        elif not forward and state == line.after:
            if line.backup and _content_state(line.backup, fd) == line.before:
                os.replace(line.backup, line.name, src_dir_fd=fd, dst_dir_fd=fd)
            elif not line.before:
                os.unlink(line.name, dir_fd=fd)


def _content_state(name: str, folder: int) -> str:
    """The hash of a file; "" without one, "unknown" for anything else."""
    try:
        data = read_regular(name, folder, MAX_WRITTEN_BYTES)
    except FileNotFoundError:
        return ""
    except OSError:
        return "unknown"
    return "unknown" if data is None else sha256_hex(data)


@contextmanager
def _locked_folder(line: JournalLine) -> Generator[int | None]:
    """The folder of the commit, locked; None if it is gone or replaced."""
    with ExitStack() as stack:
        fd = None
        with contextlib.suppress(OSError):
            root = os.open(line.root, FOLDER_FLAGS | os.O_RDONLY)
            stack.callback(os.close, root)
            fd = open_stepwise(root, line.folder or ".", os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, fd)
        if fd is None or identity_of(fd) != line.identity:
            yield None
            return
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH)
        yield fd


def _remove_temp(name: str, folder: int) -> None:
    if name.startswith(".marid-") and "/" not in name:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
