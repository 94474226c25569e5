"""Writing changes to disk: all or none, each file whole, and only while it is what the plan was made from."""

import contextlib
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.text.lines import human_size
from marid.workspace.journal import Journal, Line
from marid.workspace.parent import Parent, locked, open_parent, told
from marid.workspace.place import Place, read_whole
from marid.workspace.replace import write_all

MOST_WRITTEN = 64_000_000
_TRIES = 8
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Rights by name (ACLs) and what the user attached; capabilities are given to bytes, not to names, and are not kept.
_KEPT = ("user.", "system.posix_acl_access")

OnStep: TypeAlias = Callable[[str], None]
Token: TypeAlias = Callable[[], str]


class Change(Protocol):
    """New bytes for a place; `before` is what it must hold until then, None for nothing."""

    @property
    def place(self) -> Place:
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
class _Job:
    """A change on its way. `old` is a descriptor of the file as it is, None for a new one."""

    change: Change
    parent: Parent
    old: int | None
    temp: str
    backup: str


def no_step(_step: str) -> None:
    """Nobody counts the steps."""


def random_token() -> str:
    """Names that nobody can have taken on purpose."""
    return os.urandom(8).hex()


def commit(
    changes: Sequence[Change], home: str = "", *, on_step: OnStep = no_step, token: Token = random_token
) -> None:
    """Write all `changes`, or raise with every file as it was. `home` is where a killed commit is found again.

    Raises: BadInput for a file that is no longer what was read, Refused, Exhausted for too many bytes, Unavailable.
    """
    _check(changes)
    if not changes:
        return
    with ExitStack() as stack:
        parents = [stack.enter_context(_parent(change.place)) for change in changes]
        on_step("opened")
        stack.enter_context(locked(parents))
        on_step("locked")
        for _ in range(_TRIES):
            with contextlib.suppress(_Taken):
                name = token()
                jobs = _jobs(changes, parents, name, stack)
                on_step("compared")
                journal = Journal(home, name, [_line(job) for job in jobs]) if home else None
                _Attempt(jobs, on_step).run(journal)
                return
        raise Unavailable("no free name for a temporary file")


class _Taken(Exception):
    """Somebody has a file of the temporary name; it is left alone."""


@contextmanager
def _parent(place: Place) -> Generator[Parent]:
    parent = open_parent(place, make=True)
    try:
        yield parent
    except BaseException:
        parent.undo()
        raise
    finally:
        parent.close()


def _check(changes: Sequence[Change]) -> None:
    seen: set[tuple[str, str]] = set()
    for change in changes:
        place = change.place
        if len(change.after) > MOST_WRITTEN:
            raise Exhausted(f"{place.shown} would be larger than {human_size(MOST_WRITTEN)}")
        path = place.tree.path, place.name
        if path in seen:
            raise BadInput(f"{place.shown} is changed twice at once")
        seen.add(path)


def _jobs(changes: Sequence[Change], parents: Sequence[Parent], token: str, stack: ExitStack) -> list[_Job]:
    """The changes with what they replace, each compared with what its plan was made from."""
    jobs: list[_Job] = []
    for number, (change, parent) in enumerate(zip(changes, parents, strict=True)):
        with told(change.place):
            old = parent.target()
            if old is not None:
                stack.callback(os.close, old)
            if not _same(old, change.before):
                raise BadInput(f"{change.place.shown} has changed since it was read; read it again")
        keep = len(changes) > 1 and old is not None
        temp = f".marid-{token}-{number}"
        jobs.append(
            _Job(change=change, parent=parent, old=old, temp=f"{temp}.tmp", backup=f"{temp}.old.tmp" if keep else "")
        )
    return jobs


def _same(fd: int | None, before: bytes | None) -> bool:
    if fd is None or before is None:
        return fd is None and before is None
    size = os.fstat(fd).st_size
    return size == len(before) and read_whole(fd, size, size) == before


class _Attempt:
    """One go at it, with names that are hopefully free."""

    def __init__(self, jobs: Sequence[_Job], on_step: OnStep) -> None:
        self._jobs = jobs
        self._on_step = on_step
        self._made: list[tuple[Parent, str]] = []
        self._renamed: list[_Job] = []

    def run(self, journal: Journal | None) -> None:
        """Stage everything, then rename everything; what was begun in vain is undone. Raises: MaridError, _Taken."""
        settled = False
        try:
            self._on_step("noted")
            self._stage_all()
            if journal is not None and len(self._jobs) > 1:
                with told(self._jobs[0].change.place):
                    journal.ready()
                self._on_step("ready")
            self._rename_all()
        finally:
            # The last rename is the point of no return: until then all are taken back.
            settled = len(self._renamed) == len(self._jobs) or _undone(self._renamed)
            if settled:
                for parent, name in self._made:
                    _remove(parent, name)
            if journal is not None:
                journal.close(done=settled)
        self._on_step("cleared")

    def _stage_all(self) -> None:
        """The new bytes beside the old ones; where several files change, a copy of the old ones too."""
        for job in self._jobs:
            with told(job.change.place):
                if job.backup:
                    self._stage(job, job.backup, job.change.before or b"")
                self._stage(job, job.temp, job.change.after)
            self._on_step("staged")

    def _stage(self, job: _Job, name: str, data: bytes) -> None:
        """Write `data` to a new file with the rights of the one it will replace. Raises: OSError, _Taken."""
        try:
            fd = os.open(name, _CREATE, 0o666 if job.old is None else 0o600, dir_fd=job.parent.fd)
        except FileExistsError as error:
            raise _Taken from error
        self._made.append((job.parent, name))
        try:
            write_all(fd, [data])
            if job.old is not None:
                _dress(fd, job.old)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _rename_all(self) -> None:
        for job in self._jobs:
            with told(job.change.place):
                os.replace(job.temp, job.parent.name, src_dir_fd=job.parent.fd, dst_dir_fd=job.parent.fd)
            self._renamed.append(job)
            self._on_step("renamed")
        for job in {job.parent.identity: job for job in self._jobs}.values():
            with told(job.change.place):
                job.parent.sync()
        self._on_step("synced")


def _dress(fd: int, old: int) -> None:
    """Owner, attributes and mode of `old`, as far as they are ours to give."""
    about = os.fstat(old)
    with contextlib.suppress(OSError):
        os.fchown(fd, about.st_uid, about.st_gid)
    with contextlib.suppress(OSError):
        for name in os.listxattr(old):
            if name.startswith(_KEPT):
                os.setxattr(fd, name, os.getxattr(old, name))
    os.fchmod(fd, stat.S_IMODE(about.st_mode) & 0o777)


def _undone(done: Sequence[_Job]) -> bool:
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


def _remove(parent: Parent, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=parent.fd)


def _line(job: _Job) -> Line:
    change, parent = job.change, job.parent
    folder = change.place.name.rpartition("/")[0]
    return Line(
        root=change.place.tree.path,
        folder=folder,
        identity=parent.identity,
        name=parent.name,
        temp=job.temp,
        backup=job.backup,
        before="" if change.before is None else digest(change.before),
        after=digest(change.after),
    )


def digest(data: bytes) -> str:
    """What tells one content from another."""
    from hashlib import sha256

    return sha256(data).hexdigest()
