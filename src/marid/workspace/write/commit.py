"""Write changes to disk: all or none, each file atomically, and only if it has not changed since it was read."""

import contextlib
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple, Protocol, TypeAlias

from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.text.content_hash import sha256_hex
from marid.text.display import human_size
from marid.workspace.guard.guarded_path import GuardedPath, read_all
from marid.workspace.plain_files import write_all
from marid.workspace.write.commit_journal import MAX_WRITTEN_BYTES, CommitJournal, JournalLine
from marid.workspace.write.parent_folder import ParentFolder, lock_folders, open_parent

_MAX_ATTEMPTS = 8
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# ACLs and user attributes; capabilities belong to the old content and are not kept.
_PRESERVED_XATTRS = ("user.", "system.posix_acl_access")

OnStep: TypeAlias = Callable[[str], None]
MakeToken: TypeAlias = Callable[[], str]


class FileChange(Protocol):
    """New content for a path; `before` is what the file must contain until then, None if it must not exist."""

    @property
    def path(self) -> GuardedPath: ...
    @property
    def before(self) -> bytes | None: ...
    @property
    def after(self) -> bytes: ...


class _PreparedChange(NamedTuple):
    """A change in progress. `old` is a descriptor of the present file, None for a new one."""

    change: FileChange
    parent: ParentFolder
    old: int | None
    temp: str
    backup: str


def ignore_step(_step: str) -> None:
    """The default for `on_step`, which tests use to interrupt a commit."""


def random_token() -> str:
    """A part of temporary names that cannot be guessed."""
    return os.urandom(8).hex()


def commit(
    changes: Sequence[FileChange], home: str = "", *, on_step: OnStep = ignore_step, token: MakeToken = random_token
) -> None:
    """Write all `changes`, or raise and leave every file unchanged. A killed commit leaves a journal in `home`.

    Raises: BadInput if a file has changed since it was read, Refused, Exhausted if one is too large, Unavailable.
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
                prepared = _prepare_changes(changes, parents, name, stack)
                on_step("compared")
                journal = CommitJournal(home, name, [_journal_line(one) for one in prepared]) if home else None
                _CommitAttempt(prepared, on_step).run(journal)
                return
        raise Unavailable("no free name for a temporary file")


class _NameTaken(Exception):
    """A file of the temporary name exists; it is left alone."""


@contextmanager
def _parent_with_undo(path: GuardedPath) -> Generator[ParentFolder]:
    parent = open_parent(path, make=True)
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
        path = change.path
        if len(change.after) > MAX_WRITTEN_BYTES:
            raise Exhausted(f"{path.display_name} would be larger than {human_size(MAX_WRITTEN_BYTES)}")
        key = path.root.path, path.name
        if key in seen:
            raise BadInput(f"{path.display_name} is changed twice")
        seen.add(key)


def _prepare_changes(
    changes: Sequence[FileChange], parents: Sequence[ParentFolder], token: str, stack: ExitStack
) -> list[_PreparedChange]:
    """Open the files to be replaced, and check that each still contains what was read."""
    prepared: list[_PreparedChange] = []
    for number, (change, parent) in enumerate(zip(changes, parents, strict=True)):
        with change.path.naming_errors():
            old = parent.open_target()
            if old is not None:
                stack.callback(os.close, old)
            if not _holds_bytes(old, change.before):
                raise BadInput(f"{change.path.display_name} has changed since it was read; read it again")
        temp = f".marid-{token}-{number}"
        backup = f"{temp}.old.tmp" if len(changes) > 1 and old is not None else ""
        prepared.append(_PreparedChange(change, parent, old, f"{temp}.tmp", backup))
    return prepared


def _holds_bytes(fd: int | None, before: bytes | None) -> bool:
    if fd is None or before is None:
        return fd is None and before is None
    size = os.fstat(fd).st_size
    return size == len(before) and read_all(fd, size, size) == before


class _CommitAttempt:
    """One attempt with one set of temporary names."""

    def __init__(self, prepared: Sequence[_PreparedChange], on_step: OnStep) -> None:
        self._changes = prepared
        self._on_step = on_step
        self._temp_files: list[tuple[ParentFolder, str]] = []
        self._renamed_changes: list[_PreparedChange] = []

    def run(self, journal: CommitJournal | None) -> None:
        """Stage all files, then rename them; on an error undo everything. Raises: MaridError, _NameTaken."""
        settled = False
        try:
            self._on_step("noted")
            self._stage_all()
            if journal is not None and len(self._changes) > 1:
                with self._changes[0].change.path.naming_errors():
                    journal.mark_ready()
                self._on_step("ready")
            self._rename_all()
        finally:
            # The last rename completes the commit; before it all are rolled back.
            settled = len(self._renamed_changes) == len(self._changes) or _roll_back(self._renamed_changes)
            for parent, name in self._temp_files if settled else ():
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=parent.fd)
            if journal is not None:
                journal.close(done=settled)
        self._on_step("cleared")

    def _stage_all(self) -> None:
        """Write the new content next to the old; if several files change, a backup of the old content too."""
        for one in self._changes:
            with one.change.path.naming_errors():
                if one.backup:
                    self._stage(one, one.backup, one.change.before or b"")
                self._stage(one, one.temp, one.change.after)
            self._on_step("staged")

    def _stage(self, one: _PreparedChange, name: str, data: bytes) -> None:
        """Write `data` to a new file with the mode of the one it will replace. Raises: OSError, _NameTaken."""
        try:
            fd = os.open(name, _CREATE, 0o666 if one.old is None else 0o600, dir_fd=one.parent.fd)
        except FileExistsError as error:
            raise _NameTaken from error
        self._temp_files.append((one.parent, name))
        try:
            write_all(fd, [data])
            if one.old is not None:
                _copy_metadata(fd, one.old)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _rename_all(self) -> None:
        for one in self._changes:
            with one.change.path.naming_errors():
                os.replace(one.temp, one.parent.name, src_dir_fd=one.parent.fd, dst_dir_fd=one.parent.fd)
            self._renamed_changes.append(one)
            self._on_step("renamed")
        for one in {one.parent.identity: one for one in self._changes}.values():
            with one.change.path.naming_errors():
                one.parent.sync()
        self._on_step("synced")


def _copy_metadata(fd: int, old: int) -> None:
    """Copy owner, attributes and mode of `old`, as far as permitted."""
    about = os.fstat(old)
    with contextlib.suppress(OSError):
        os.fchown(fd, about.st_uid, about.st_gid)
    with contextlib.suppress(OSError):
        for name in os.listxattr(old):
            if name.startswith(_PRESERVED_XATTRS):
                os.setxattr(fd, name, os.getxattr(old, name))
    os.fchmod(fd, stat.S_IMODE(about.st_mode) & 0o777)


def _roll_back(done: Sequence[_PreparedChange]) -> bool:
    """Restore the old files; False if one could not be, so that the journal must stay."""
    whole = True
    for one in reversed(done):
        try:
            if one.old is None:
                os.unlink(one.parent.name, dir_fd=one.parent.fd)
            elif one.backup:
                os.replace(one.backup, one.parent.name, src_dir_fd=one.parent.fd, dst_dir_fd=one.parent.fd)
        except OSError:
            whole = False
    return whole


def _journal_line(one: _PreparedChange) -> JournalLine:
    change = one.change
    return JournalLine(
        root=change.path.root.path,
        folder=change.path.name.rpartition("/")[0],
        identity=one.parent.identity,
        name=one.parent.name,
        temp=one.temp,
        backup=one.backup,
        before="" if change.before is None else sha256_hex(change.before),
        after=sha256_hex(change.after),
    )
