"""What commands create under protected names is moved out of the project, into the home.

A mount protects a name only if it exists, and nothing of ours may appear in the user's tree. So the absent names are
recorded before a command starts, and what has appeared under them is moved away before the call returns. After a kill
the record is left, and the next start does the same. What another program has created meanwhile cannot be told apart.
"""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import stat
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from secrets import token_hex
from typing import NamedTuple

from marid.core.errors import NotFound, Refused, Unavailable
from marid.text.display import quote_path
from marid.workspace.guard.openat import PATH_ONLY, default_opener
from marid.workspace.plain_files import lock_folder, make_private_folder, read_small_text

_MAX_RECORD_BYTES = 1 << 20
_CONTENT, _ORIGIN = "content", "origin.json"


class QuarantinedItem(NamedTuple):
    """Something that was at `path`, moved away at `moved`, in seconds since 1970."""

    id: str
    path: str
    moved: float


class AbsentNames(NamedTuple):
    """Names that a folder did not have when a command started. The inode tells the folder from a later one."""

    folder: str
    inode: int
    names: tuple[str, ...]


class CommandRecord(NamedTuple):
    """The open record of one command: locked while `fd` is open anywhere. `notes` is complete at the end."""

    fd: int
    notes: list[str]


class Quarantine:
    """`home` is ours: it has a record for each running command, and the items."""

    def __init__(self, home: str) -> None:
        self._records = os.path.join(home, "sandbox")
        self._items = os.path.join(home, "quarantine")

    @contextlib.contextmanager
    def watch(self, guarded: Iterable[tuple[str, Sequence[str]]]) -> Generator[CommandRecord]:
        """Record which of the names in these folders are absent; at the end, move what has appeared under them.

        Raises: Unavailable if the record cannot be written.
        """
        path = os.path.join(self._records, token_hex(8))
        try:
            make_private_folder(self._records)
            with lock_folder(self._records):
                notes, running = self._clear_records()
                absent = list(_find_absent(guarded, running))
                fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                fcntl.flock(fd, fcntl.LOCK_EX)
                os.write(fd, json.dumps(absent).encode())
        except OSError as cause:
            raise Unavailable(f"the sandbox cannot record which names are absent: {cause.strerror}") from cause
        try:
            yield CommandRecord(fd, notes)
        finally:
            notes += self._sweep(absent)
            os.close(fd)
            os.unlink(path)

    def recover(self) -> list[str]:
        """Move away what the commands of killed processes have left. Returns notes for the person and the model."""
        with contextlib.suppress(OSError), lock_folder(self._records):
            return self._clear_records()[0]
        return []

    def items(self) -> list[QuarantinedItem]:
        """What is in quarantine, the oldest first."""
        names = os.listdir(self._items) if os.path.isdir(self._items) else []
        found = (self._find_item(name) for name in names)
        return sorted((item for item in found if item is not None), key=lambda item: item.moved)

    def restore(self, id: str) -> QuarantinedItem:
        """Move an item back. Raises: NotFound, Refused if its place is taken, Unavailable."""
        item = self._get_item(id)
        if os.path.lexists(item.path):
            raise Refused(f"{quote_path(item.path)} exists: move it away first")
        try:
            _move(os.path.join(self._items, item.id, _CONTENT), item.path)
        except OSError as cause:
            raise Unavailable(f"{quote_path(item.path)} cannot be restored: {cause.strerror}") from cause
        shutil.rmtree(os.path.join(self._items, item.id))
        return item

    def delete(self, id: str) -> QuarantinedItem:
        """Delete an item for good. Raises: NotFound, Unavailable."""
        item = self._get_item(id)
        try:
            shutil.rmtree(os.path.join(self._items, item.id))
        except OSError as cause:
            raise Unavailable(f"'{item.id}' cannot be deleted: {cause.strerror}") from cause
        return item

    def _clear_records(self) -> tuple[list[str], list[AbsentNames]]:
        """Sweep after the commands that no process holds any more; also returns what the others have recorded."""
        notes: list[str] = []
        running: list[AbsentNames] = []
        for name in os.listdir(self._records):
            path = os.path.join(self._records, name)
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as record:  # else it has just ended
                absent = _parse_record(record.read(_MAX_RECORD_BYTES))
                try:
                    fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    running += absent
                    continue
                notes += self._sweep(absent)
                os.unlink(path)
        return notes, running

    def _sweep(self, recorded: Iterable[AbsentNames]) -> Iterator[str]:
        """Move away what exists under the recorded names; a note for each."""
        for absent in recorded:
            with contextlib.suppress(OSError), _open_folder(absent.folder) as fd:
                if os.fstat(fd).st_ino == absent.inode:
                    existing = (name for name in absent.names if _exists(fd, name))
                    yield from filter(None, [self._move_away(absent.folder, fd, name) for name in existing])

    def _move_away(self, folder: str, fd: int, name: str) -> str:
        """A note; "" if another process was faster. By descriptor: the folder may be exchanged for a link."""
        path = os.path.join(folder, name)
        item = QuarantinedItem(token_hex(4), path, time.time())
        place = os.path.join(self._items, item.id)
        try:
            make_private_folder(place)
            with open(os.path.join(place, _ORIGIN), "x") as file:
                json.dump({"path": path, "moved": item.moved}, file)
            _move(f"/proc/self/fd/{fd}/{name}", os.path.join(place, _CONTENT))
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, FileNotFoundError):
                return ""
            reason = error.strerror or "not everything could be copied"
            return f"commands may not create {quote_path(path)}, and it could not be moved away: {reason}"
        return (
            f"moved to quarantine: {quote_path(path)}, which commands may not create; "
            f"`marid quarantine restore {item.id}` moves it back"
        )

    def _find_item(self, id: str) -> QuarantinedItem | None:
        """None for what is not an item, or not a whole one."""
        place = os.path.join(self._items, id)
        try:
            origin = json.loads(read_small_text(os.path.join(place, _ORIGIN), _MAX_RECORD_BYTES))
            item = QuarantinedItem(id, str(origin["path"]), float(origin["moved"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return item if os.path.lexists(os.path.join(place, _CONTENT)) else None

    def _get_item(self, id: str) -> QuarantinedItem:
        found = [item for item in self.items() if id and item.id.startswith(id)]
        if len(found) != 1:
            problem = "fits several items" if found else "is not in quarantine"
            raise NotFound(f"'{quote_path(id)}' {problem}; `marid quarantine` lists the IDs")
        return found[0]


def _find_absent(guarded: Iterable[tuple[str, Sequence[str]]], running: Sequence[AbsentNames]) -> Iterator[AbsentNames]:
    """The absent names, with those that other running commands found absent: one of them may have created it."""
    for folder, names in guarded:
        with _open_folder(folder) as fd:
            inode = os.fstat(fd).st_ino
            others = {
                name for other in running if (other.folder, other.inode) == (folder, inode) for name in other.names
            }
            yield AbsentNames(folder, inode, tuple(name for name in names if name in others or not _exists(fd, name)))


def _parse_record(data: bytes) -> list[AbsentNames]:
    """A record that a kill left half-written is empty: its command has not started."""
    try:
        return [AbsentNames(folder, inode, tuple(names)) for folder, inode, names in json.loads(data)]
    except (ValueError, TypeError):
        return []


@contextlib.contextmanager
def _open_folder(path: str) -> Generator[int]:
    """A descriptor of a folder; no part of the path may be a link. Raises: OSError."""
    top = os.open("/", PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fd = default_opener()(top, path.lstrip("/") or ".", PATH_ONLY | os.O_DIRECTORY)
    finally:
        os.close(top)
    try:
        yield fd
    finally:
        os.close(fd)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:  # absent, or in a folder that commands cannot use either
        return False
    return True


def _move(source: str, target: str) -> None:
    """Rename, or copy to another file system and remove. Raises: OSError, after which the source is still there."""
    try:
        os.rename(source, target)
    except PermissionError:
        if os.path.islink(source):
            raise
        os.chmod(source, 0o700)  # a folder that its owner may not write cannot be moved
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, target)


def _copy(source: str, target: str) -> None:
    """Copy to another file system, without pipes, sockets and devices, and remove the source."""
    if stat.S_ISDIR(os.lstat(source).st_mode):
        shutil.copytree(source, target, symlinks=True, ignore=_special_files)
        shutil.rmtree(source)
        return
    if not _special_files(os.path.dirname(source), [os.path.basename(source)]):
        shutil.copy2(source, target, follow_symlinks=False)
    os.unlink(source)


def _special_files(folder: str, names: Sequence[str]) -> list[str]:
    kinds = ((name, os.lstat(os.path.join(folder, name)).st_mode) for name in names)
    return [name for name, mode in kinds if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))]
