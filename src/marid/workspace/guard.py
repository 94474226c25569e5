"""Opening names beneath a root: the kernel opens them there or not at all."""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from marid.core.errors import BadInput, Exhausted, NotFound, Refused
from marid.text.visible import shown_path
from marid.workspace.descent import open_file, read_at_most

_OPENAT2 = 437
_BENEATH, _NO_MAGIC, _NO_SYMLINKS = 0x08, 0x02, 0x04
MOST_BYTES = 16 << 20


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


class Tree:
    """One root, held by descriptor."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        self._fd = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._prefix = self.path.rstrip("/") + "/"

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)

    def name(self, raw: str) -> str | None:
        """The name inside this root that `raw` means, "." for the root; None if it leads elsewhere. No I/O."""
        if raw.startswith("/"):
            if not (raw.rstrip("/") + "/").startswith(self._prefix):
                return None
            raw = raw[len(self._prefix) :] or "."
        name = os.path.normpath(raw)
        return None if name == ".." or name.startswith("../") else name

    def open(self, name: str, flags: int = os.O_RDONLY, *, links: bool = True) -> int:
        """A descriptor of `name`. Raises: NotFound, Refused."""
        resolve = _BENEATH | _NO_MAGIC | (0 if links else _NO_SYMLINKS)
        how = struct.pack("QQQ", flags | os.O_CLOEXEC | os.O_NONBLOCK, 0, resolve)
        code = errno.EAGAIN
        for _ in range(8):
            fd = int(_libc().syscall(_OPENAT2, self._fd, os.fsencode(name), how, len(how)))
            if fd >= 0:
                return fd
            code = ctypes.get_errno()
            if code != errno.EAGAIN:
                break
        if code in (errno.ENOENT, errno.ENOTDIR):
            raise NotFound(f"'{shown_path(name)}' is not there")
        raise Refused(f"'{shown_path(name)}' may not be opened")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A name beneath a root. No descriptor is held, so it may wait for an answer, be dropped or be shared."""

    tree: Tree
    name: str

    def read(self, limit: int = MOST_BYTES) -> bytes:
        """The bytes of the file, which must be a regular one of at most `limit` bytes.

        Raises: NotFound, Refused, BadInput for what is no regular file, Exhausted for a file that is too large.
        """
        fd = self.tree.open(self.name)
        try:
            about = os.fstat(fd)
            if stat.S_ISDIR(about.st_mode):
                raise BadInput(f"'{shown_path(self.name)}' is a folder, not a file")
            if not stat.S_ISREG(about.st_mode):
                raise BadInput(f"'{shown_path(self.name)}' is not a regular file")
            if about.st_size > limit:
                raise Exhausted(f"'{shown_path(self.name)}' is larger than {limit:,} bytes")
            with os.fdopen(os.dup(fd), "rb") as file:
                return file.read(limit + 1)
        finally:
            os.close(fd)

    def is_folder(self) -> bool:
        """Whether a folder is there now. Raises: NotFound, Refused."""
        fd = self.tree.open(self.name, os.O_PATH)
        try:
            return stat.S_ISDIR(os.fstat(fd).st_mode)
        finally:
            os.close(fd)

    def entries(self) -> list["Entry"]:
        """What is directly in the folder, by name, without what the guard hides.

        Raises: NotFound, Refused, BadInput for what is no folder.
        """
        if not self.is_folder():
            raise BadInput(f"'{shown_path(self.name)}' is a file, not a folder")
        fd = self.tree.open(self.name, os.O_DIRECTORY)
        try:
            with os.scandir(fd) as found:
                return sorted(_entry(entry) for entry in found)
        finally:
            os.close(fd)

    def walk(self, *, ignored: bool = False, hidden: bool = True) -> Iterator["OpenFolder"]:
        """The folder and all below it, each before its sub-folders, without what is hidden; links are not followed.

        Without `ignored`, what ignore files and the built-in defaults exclude is left out; without `hidden`, names
        that begin with a dot. Raises: NotFound, Refused, BadInput for what is no folder.
        """
        fd = self.tree.open(self.name, os.O_DIRECTORY)
        try:
            for path, folders, files, at in os.fwalk(".", dir_fd=fd, follow_symlinks=False):
                folders[:] = sorted(name for name in folders if name != ".git" and (hidden or name[0] != "."))
                names = sorted(name for name in files if hidden or name[0] != ".")
                yield OpenFolder(path=os.path.normpath(path).removeprefix("."), names=names, folders=folders, fd=at)
        finally:
            os.close(fd)


class Entry(NamedTuple):
    """One name in a folder. `kind` is "file", "dir", "link" or "other"."""

    name: str
    kind: str
    size: int


def _entry(entry: "os.DirEntry[str]") -> Entry:
    about = entry.stat(follow_symlinks=False)
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}
    return Entry(entry.name, kinds.get(stat.S_IFMT(about.st_mode), "other"), about.st_size)


class OpenFolder(NamedTuple):
    """A folder of a walk, open until the next one is asked for. `path` is relative to where the walk began ("")."""

    path: str
    names: list[str]
    folders: list[str]
    fd: int

    def read(self, name: str, limit: int = MOST_BYTES) -> bytes | None:
        """The bytes of a regular file; None for what has gone, may not be read, is no regular file or is too large."""
        try:
            opened = open_file(name, self.fd)
        except OSError:
            return None
        if opened is None:
            return None
        fd, about = opened
        try:
            return read_at_most(fd, limit) if about.st_size <= limit else None
        except OSError:
            return None
        finally:
            os.close(fd)


class Territory:
    """Everything that may be touched: roots, the first of which resolves relative names, and single files."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.trees = tuple(Tree(root) for root in roots)

    def close(self) -> None:
        """Give all descriptors back."""
        for tree in self.trees:
            tree.close()

    def place(self, raw: str) -> Place:
        """Where `raw` leads. No I/O: says nothing about what is there.

        Raises: BadInput for what is no path, Refused for what leads outside.
        """
        if not raw.strip() or "\0" in raw:
            raise BadInput("a path is needed")
        for tree in self.trees if raw.startswith("/") else self.trees[:1]:
            name = tree.name(raw)
            if name is not None:
                return Place(tree=tree, name=name)
        raise Refused(f"'{shown_path(raw)}' is outside the project")
