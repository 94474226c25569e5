"""Python files: one by its path, or those of a folder, found by walking it, each read when it is first needed."""

from collections.abc import Iterator, Mapping
from posixpath import join, normpath

from marid.core.errors import BadInput, Exhausted, NotFound, Refused
from marid.text.visible import shown_path
from marid.toolkit.handles import FileRef, FolderRef
from marid.tools.texts import read_bytes

ENDINGS = (".py", ".pyi", ".pyw")
LARGEST = 4 << 20
MOST = 512 << 20


def python_bytes(path: FileRef) -> bytes:
    """The bytes of a Python file.

    Raises:
        BadInput: by its name and its first line it is no Python.
        NotFound, Refused, Exhausted: as the handle does.
    """
    data = read_bytes(path)
    first = data[:200].partition(b"\n")[0]
    if path.given.lower().endswith(ENDINGS) or (first.startswith(b"#!") and b"python" in first):
        return data
    raise BadInput(
        f"'{shown_path(path.given)}' is no Python file: its name ends in none of {', '.join(ENDINGS)}; "
        "get_code_outline and get_skeleton know other languages"
    )


class PythonTree(Mapping[str, bytes]):
    """Contents by path relative to the root; what cannot be read or is too large is empty, and counted in `skipped`.

    Getting one raises: Exhausted when all of them would be more than can be held in memory.
    """

    def __init__(self, folder: FolderRef, most: int = MOST) -> None:
        self.skipped = 0
        self._folder = folder
        self._left = most
        self._most = most
        self._read: dict[str, bytes] = {}
        self._names = {normpath(join(folder.name, path)): path for path in _paths(folder)}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._read:
            data = self._read[path] = self._bytes(self._names[path])
            self._left -= len(data)
            if self._left < 0:
                raise Exhausted(
                    f"the Python files of this folder hold more than {self._most:,} bytes: name a smaller folder"
                )
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, path: object) -> bool:
        return path in self._names

    def _bytes(self, name: str) -> bytes:
        try:
            return self._folder.place.below(name).read(LARGEST)
        except (NotFound, Refused, BadInput, Exhausted):
            self.skipped += 1
            return b""


def _paths(folder: FolderRef) -> Iterator[str]:
    for opened in folder.walk():
        for name in opened.names:
            if name.lower().endswith(ENDINGS):
                yield join(opened.path, name)
