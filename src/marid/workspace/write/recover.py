"""Complete or undo commits that were killed, at the next start."""

import contextlib
import fcntl
import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from marid.workspace.dirfd_walk import identity_of, open_file
from marid.workspace.guard.guarded_path import read_all
from marid.workspace.guard.openat import FOLDER_FLAGS, open_stepwise
from marid.workspace.write.commit import MAX_WRITTEN_BYTES, sha256_hex
from marid.workspace.write.commit_journal import AbandonedJournal, JournalLine, find_abandoned, release_journal


def recover_commits(home: str) -> int:
    """Complete or undo every killed commit of this home, and remove its temporary files; returns how many.

    A commit that had begun to rename is completed, or undone if one of its files was changed since. If its folders are
    missing now, it is left for a later start.
    """
    settled = 0
    for left in find_abandoned(home):
        done = False
        try:
            done = _finish_or_undo(left)
        finally:
            release_journal(left, done=done)
        settled += done
    return settled


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
        opened = open_file(name, folder)
    except FileNotFoundError:
        return ""
    except OSError:
        return "unknown"
    if opened is None:
        return "unknown"
    try:
        data = (
            read_all(opened[0], opened[1].st_size, MAX_WRITTEN_BYTES)
            if opened[1].st_size <= MAX_WRITTEN_BYTES
            else None
        )
        return "unknown" if data is None else sha256_hex(data)
    finally:
        os.close(opened[0])


@contextmanager
def _locked_folder(line: JournalLine) -> Generator[int | None]:
    """The folder of the commit, locked; None if it is gone or replaced."""
    fd = _open_folder(line)
    if fd is None or identity_of(fd) != line.identity:
        if fd is not None:
            os.close(fd)
        yield None
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH)
        yield fd
    finally:
        os.close(fd)


def _open_folder(line: JournalLine) -> int | None:
    try:
        root = os.open(line.root, FOLDER_FLAGS | os.O_RDONLY)
    except OSError:
        return None
    try:
        return open_stepwise(root, line.folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    finally:
        os.close(root)


def _remove_temp(name: str, folder: int) -> None:
    if name.startswith(".marid-") and "/" not in name:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
