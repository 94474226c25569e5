"""Writing changes to disk: all or none, each file whole, and only while it is what the plan was made from."""

import contextlib
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.text.display import human_size
from marid.workspace.guard.guarded_path import GuardedPath, read_all
from marid.workspace.write.atomic import write_all
from marid.workspace.write.commit_journal import CommitJournal, JournalLine
from marid.workspace.write.parent_folder import ParentFolder, lock_folders, open_parent, wrap_os_errors

MAX_WRITTEN_BYTES = 64_000_000
_MAX_ATTEMPTS = 8
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Rights by name (ACLs) and what the user attached; capabilities are given to bytes, not to names, and are not kept.
_PRESERVED_XATTRS = ("user.", "system.posix_acl_access")

OnStep: TypeAlias = Callable[[str], None]
MakeToken: TypeAlias = Callable[[], str]


class FileChange(Protocol):
    """New bytes for a place; `before` is what it must hold until then, None for nothing."""

    @property
    def path(self) -> GuardedPath:
        """Where."""
        ...

    @property
    def before(self) -> bytes | None:
        """What the plan was made from."""
        ...

    @property
    def after(self) -> bytes:
        """What will be there."""
        ...


@dataclass(frozen=True, kw_only=True)
class _PreparedChange:
    """A change on its way. `old` is a descriptor of the file as it is, None for a new one."""

    change: FileChange
    parent: ParentFolder
    old: int | None
    temp: str
    backup: str


def ignore_step(_step: str) -> None:
    """Nobody counts the steps."""


def random_token() -> str:
    """Names that nobody can have taken on purpose."""
    return os.urandom(8).hex()


def commit(
    changes: Sequence[FileChange], home: str = "", *, on_step: OnStep = ignore_step, token: MakeToken = random_token
) -> None:
    """Write all `changes`, or raise with every file as it was. `home` is where a killed commit is found again.

    Raises: BadInput for a file that is no longer what was read, Refused, Exhausted for too many bytes, Unavailable.
    """
    _check_changes(changes)
    if not changes:
        return
    with ExitStack() as stack:
        parents = [stack.enter_context(_parent_with_undo(change.path)) for change in changes]
        on_step("opened")
        stack.enter_context(lock_folders(parents))
        on_step("locked")
        for _ in range(_MAX_ATTEMPTS):
            with contextlib.suppress(_NameTaken):
                name = token()
                jobs = _prepare_changes(changes, parents, name, stack)
                on_step("compared")
                journal = CommitJournal(home, name, [_journal_line(job) for job in jobs]) if home else None
                _CommitAttempt(jobs, on_step).run(journal)
                return
        raise Unavailable("no free name for a temporary file")


class _NameTaken(Exception):
    """Somebody has a file of the temporary name; it is left alone."""


@contextmanager
def _parent_with_undo(place: GuardedPath) -> Generator[ParentFolder]:
    parent = open_parent(place, make=True)
    try:
        yield parent
    except BaseException:
        parent.remove_created()
        raise
    finally:
        parent.close()


def _check_changes(changes: Sequence[FileChange]) -> None:
    seen: set[tuple[str, str]] = set()
    for change in changes:
        place = change.path
        if len(change.after) > MAX_WRITTEN_BYTES:
            raise Exhausted(f"{place.display_name} would be larger than {human_size(MAX_WRITTEN_BYTES)}")
        path = place.root.path, place.name
        if path in seen:
            raise BadInput(f"{place.display_name} is changed twice at once")
        seen.add(path)


def _prepare_changes(
    changes: Sequence[FileChange], parents: Sequence[ParentFolder], token: str, stack: ExitStack
) -> list[_PreparedChange]:
    """The changes with what they replace, each compared with what its plan was made from."""
    jobs: list[_PreparedChange] = []
    for number, (change, parent) in enumerate(zip(changes, parents, strict=True)):
        with wrap_os_errors(change.path):
            old = parent.open_target()
            if old is not None:
                stack.callback(os.close, old)
            if not _holds_bytes(old, change.before):
                raise BadInput(f"{change.path.display_name} has changed since it was read; read it again")
        keep = len(changes) > 1 and old is not None
        temp = f".marid-{token}-{number}"
        jobs.append(
            _PreparedChange(
                change=change, parent=parent, old=old, temp=f"{temp}.tmp", backup=f"{temp}.old.tmp" if keep else ""
            )
        )
    return jobs


def _holds_bytes(fd: int | None, before: bytes | None) -> bool:
    if fd is None or before is None:
        return fd is None and before is None
    size = os.fstat(fd).st_size
    return size == len(before) and read_all(fd, size, size) == before


class _CommitAttempt:
    """One go at it, with names that are hopefully free."""

    def __init__(self, jobs: Sequence[_PreparedChange], on_step: OnStep) -> None:
        self._jobs = jobs
        self._on_step = on_step
        self._temp_files: list[tuple[ParentFolder, str]] = []
        self._renamed_changes: list[_PreparedChange] = []

    def run(self, journal: CommitJournal | None) -> None:
        """Stage everything, then rename everything; what was begun in vain is undone. Raises: MaridError, _Taken."""
        settled = False
        try:
            self._on_step("noted")
            self._stage_all()
            if journal is not None and len(self._jobs) > 1:
                with wrap_os_errors(self._jobs[0].change.path):
                    journal.mark_ready()
                self._on_step("ready")
            self._rename_all()
        finally:
            # The last rename is the point of no return: until then all are taken back.
            settled = len(self._renamed_changes) == len(self._jobs) or _roll_back(self._renamed_changes)
            if settled:
                for parent, name in self._temp_files:
                    _unlink_quietly(parent, name)
            if journal is not None:
                journal.close(done=settled)
        self._on_step("cleared")

    def _stage_all(self) -> None:
        """The new bytes beside the old ones; where several files change, a copy of the old ones too."""
        for job in self._jobs:
            with wrap_os_errors(job.change.path):
                if job.backup:
                    self._stage(job, job.backup, job.change.before or b"")
                self._stage(job, job.temp, job.change.after)
            self._on_step("staged")

    def _stage(self, job: _PreparedChange, name: str, data: bytes) -> None:
        """Write `data` to a new file with the rights of the one it will replace. Raises: OSError, _Taken."""
        try:
            fd = os.open(name, _CREATE, 0o666 if job.old is None else 0o600, dir_fd=job.parent.fd)
        except FileExistsError as error:
            raise _NameTaken from error
        self._temp_files.append((job.parent, name))
        try:
            write_all(fd, [data])
            if job.old is not None:
                _copy_metadata(fd, job.old)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _rename_all(self) -> None:
        for job in self._jobs:
            with wrap_os_errors(job.change.path):
                os.replace(job.temp, job.parent.name, src_dir_fd=job.parent.fd, dst_dir_fd=job.parent.fd)
            self._renamed_changes.append(job)
            self._on_step("renamed")
        for job in {job.parent.identity: job for job in self._jobs}.values():
            with wrap_os_errors(job.change.path):
                job.parent.sync()
        self._on_step("synced")


def _copy_metadata(fd: int, old: int) -> None:
    """Owner, attributes and mode of `old`, as far as they are ours to give."""
    about = os.fstat(old)
    with contextlib.suppress(OSError):
        os.fchown(fd, about.st_uid, about.st_gid)
    with contextlib.suppress(OSError):
        for name in os.listxattr(old):
            if name.startswith(_PRESERVED_XATTRS):
                os.setxattr(fd, name, os.getxattr(old, name))
    os.fchmod(fd, stat.S_IMODE(about.st_mode) & 0o777)


def _roll_back(done: Sequence[_PreparedChange]) -> bool:
    """Put the old files back; False if one could not be, and the journal must stay."""
    whole = True
    for job in reversed(done):
        try:
            if job.old is None:
                os.unlink(job.parent.name, dir_fd=job.parent.fd)
            elif job.backup:
                os.replace(job.backup, job.parent.name, src_dir_fd=job.parent.fd, dst_dir_fd=job.parent.fd)
        except OSError:
            whole = False
    return whole


def _unlink_quietly(parent: ParentFolder, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=parent.fd)


def _journal_line(job: _PreparedChange) -> JournalLine:
    change, parent = job.change, job.parent
    folder = change.path.name.rpartition("/")[0]
    return JournalLine(
        root=change.path.root.path,
        folder=folder,
        identity=parent.identity,
        name=parent.name,
        temp=job.temp,
        backup=job.backup,
        before="" if change.before is None else sha256_hex(change.before),
        after=sha256_hex(change.after),
    )


def sha256_hex(data: bytes) -> str:
    """What tells one content from another."""
    from hashlib import sha256

    return sha256(data).hexdigest()
