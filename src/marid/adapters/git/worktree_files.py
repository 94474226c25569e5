"""Compare the files of a working tree with an index. Git opens none of them: it would follow links in folders' places.

What differs is written into the object store of the view, so that git only compares what it has stored.
"""

import contextlib
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from marid.core.errors import Unavailable
from marid.workspace.guard.openat import FOLDER_FLAGS, default_opener

MAX_PLAIN_FILE = 64 << 20
LINK, SUBMODULE = 0o120000, 0o160000
# Assumed unchanged, or not checked out.
_UNCHECKED = 0x8000 | 1 << 30
_ENTRY = re.compile(
    rb"([0-7]{6}) ([0-9a-f]+) ([0-3])\t([^\0]*)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n"
    rb"  dev: \d+\tino: (\d+)\n  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
# What git may convert before it stores a file.
_CONVERTIBLE = re.compile(rb"\r|\$Id")


class IndexEntry(NamedTuple):
    """A file in the index; `stamp` is its state when git last looked. `name` is relative to the working tree."""

    name: str
    mode: int
    oid: str
    stage: int
    stamp: tuple[int, ...]
    is_unchecked: bool


def parse_index(output: bytes) -> Iterator[IndexEntry]:
    """Parse `git ls-files -z --stage --debug`. Raises: Unavailable if git prints something else."""
    at = 0
    while at < len(output):
        found = _ENTRY.match(output, at)
        if found is None:
            raise Unavailable("git prints its index in an unknown form")
        at = found.end()
        mode, oid, stage, name, *stamp, flags = found.groups()
        is_unchecked = bool(int(flags, 16) & _UNCHECKED)
        yield IndexEntry(
            os.fsdecode(name), int(mode, 8), oid.decode(), int(stage), tuple(map(int, stamp)), is_unchecked
        )


@dataclass(kw_only=True)
class WorktreeFiles:
    """The files below `folder`, whose names in the index begin with `prefix`, read beneath its descriptor.

    `objects` is where blobs are written; `convert` lets git store a file from a descriptor, as if it had the name.
    """

    folder: str
    prefix: str
    objects: str
    settings: Mapping[str, str]
    index_time: int
    convert: Callable[[int, str], str]
    _parents: dict[str, int] = field(default_factory=dict[str, int])

    def index_updates(self, entries: Iterable[IndexEntry]) -> bytes:
        """The input of `git update-index -z --index-info` that makes the index equal to the files."""
        with contextlib.ExitStack() as stack:
            self._parents = {"": os.open(self.folder, FOLDER_FLAGS)}
            stack.callback(lambda: [os.close(fd) for fd in self._parents.values()])
            lines = {entry.name: line for entry in entries if (line := self._update(entry)) is not None}
        return b"".join(lines.values())

    def _update(self, entry: IndexEntry) -> bytes | None:
        if entry.mode == SUBMODULE or entry.is_unchecked:
            return None
        name = os.fsencode(entry.name)
        try:
            parent, last = self._open_parent(entry.name.removeprefix(self.prefix))
            found = os.stat(last, dir_fd=parent, follow_symlinks=False)
            mode = self._mode(found.st_mode, entry.mode)
            if mode == entry.mode and not entry.stage and self._is_unchanged(found, entry.stamp):
                return None
            oid = self._store(parent, last, mode, entry)
        except (OSError, ValueError):  # it is not there, or no file any more
            return b"0 %s\t%s\0" % (b"0" * len(entry.oid), name)
        return b"%o %s 0\t%s\0" % (mode, oid.encode(), name)

    def _open_parent(self, name: str) -> tuple[int, str]:
        """The folder of a file, by descriptor: only the last one stays open, since names come in order."""
        folder, _, last = name.rpartition("/")
        if folder not in self._parents:
            top = self._parents[""]
            opened = default_opener()(top, folder, os.O_RDONLY | os.O_DIRECTORY)
            for other in [key for key in self._parents if key]:
                os.close(self._parents.pop(other))
            self._parents[folder] = opened
        return self._parents[folder], last

    def _mode(self, found: int, known: int) -> int:
        """The mode that git gives a file. Raises: ValueError for what is neither a file nor a link."""
        if stat.S_ISLNK(found):
            return LINK
        if not stat.S_ISREG(found):
            raise ValueError("not a file")
        if known == LINK and self.settings.get("core.symlinks") == "false":
            return LINK
        if self.settings.get("core.filemode") == "false":
            return known if known != LINK else 0o100644
        return 0o100755 if found & stat.S_IXUSR else 0o100644

    def _is_unchanged(self, found: os.stat_result, stamp: tuple[int, ...]) -> bool:
        """Whether git has seen this very state; not if it was written when the index was, or later."""
        times = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
        now = (*times, found.st_ino & 0xFFFFFFFF, found.st_size & 0xFFFFFFFF)
        return now == stamp and found.st_mtime_ns < self.index_time

    def _store(self, parent: int, last: str, mode: int, entry: IndexEntry) -> str:
        """Store the file as a blob and return its hash."""
        if mode == LINK and self.settings.get("core.symlinks") != "false":
            return self._write_blob(os.fsencode(os.readlink(last, dir_fd=parent)), entry.oid)
        fd = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        with open(fd, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ValueError("not a file")
            data = file.read(MAX_PLAIN_FILE) or b""
            if len(data) < MAX_PLAIN_FILE and _is_plain(data):
                return self._write_blob(data, entry.oid)
            file.seek(0)
            return self.convert(fd, entry.name.removeprefix(self.prefix))

    def _write_blob(self, data: bytes, known: str) -> str:
        """Write a loose object, unless the repository has it."""
        whole = b"blob %d\0%s" % (len(data), data)
        kind = self.settings.get("extensions.objectformat", "sha1")
        oid = hashlib.new(kind, whole, usedforsecurity=False).hexdigest()
        if oid == known:
            return oid
        path = os.path.join(self.objects, oid[:2], oid[2:])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(zlib.compress(whole, 1))
        return oid


def _is_plain(data: bytes) -> bool:
    """Whether git stores these bytes as they are, whatever the attributes of the file say."""
    if _CONVERTIBLE.search(data):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
