"""Python files: one by its path, or those of a folder, found by walking it, each read when it is first needed."""

from collections.abc import Callable, Iterator, Mapping
from posixpath import join, normpath
from typing import Annotated, Concatenate, ParamSpec, TypeVar

from marid.core.errors import BadInput, Exhausted, NotFound, Refused
from marid.ports.workers import Workers
from marid.text.display import quote_path
from marid.toolkit.handles import FileRef, FolderRef
from marid.tools.text_files import read_bytes

P = ParamSpec("P")
T = TypeVar("T")
DottedName = Annotated[
    str, "dotted name, such as f, Class.method or outer.inner; f@12 is the f on line 12, where several share the name"
]

SUFFIXES = (".py", ".pyi", ".pyw")
MAX_FILE_BYTES = 4 << 20
MAX_TOTAL_BYTES = 512 << 20


def python_bytes(path: FileRef) -> bytes:
    """The bytes of a Python file. Raises: BadInput if name and first line say it is none; what the handle raises."""
    data = read_bytes(path)
    first = data[:200].partition(b"\n")[0]
    if path.raw.lower().endswith(SUFFIXES) or (first.startswith(b"#!") and b"python" in first):
        return data
    raise BadInput(
        f"'{quote_path(path.raw)}' is no Python file: its name ends in none of {', '.join(SUFFIXES)}; "
        "get_code_outline and get_skeleton know other languages"
    )


def run_on_bytes(
    path: FileRef,
    workers: Workers,
    work: Callable[Concatenate[bytes, P], T],
    data: bytes,
    /,
    *args: P.args,
    **kw: P.kwargs,
) -> T:
    """The result of `work` on the bytes of a file. Errors name the path. Raises: BadInput, NotFound, Exhausted."""
    try:
        return workers.run(work, data, *args, **kw)
    except (BadInput, NotFound, Exhausted) as error:
        raise type(error)(f"'{quote_path(path.raw)}': {error}") from error


def run_on_file(
    path: FileRef, workers: Workers, work: Callable[Concatenate[bytes, P], T], /, *args: P.args, **kw: P.kwargs
) -> T:
    """The result of `work` on a Python file, which is read first."""
    return run_on_bytes(path, workers, work, python_bytes(path), *args, **kw)


class PythonFiles(Mapping[str, bytes]):
    """Contents by path relative to the root; what cannot be read or is too large is empty, and counted in `skipped`.

    Getting one raises: Exhausted when all of them would be more than can be held in memory.
    """

    def __init__(self, folder: FolderRef, max_bytes: int = MAX_TOTAL_BYTES) -> None:
        self.skipped = 0
        self._folder = folder
        self._bytes_left = max_bytes
        self._max_bytes = max_bytes
        self._contents: dict[str, bytes] = {}
        paths = (join(opened.path, name) for opened in folder.walk() for name in opened.names)
        self._names = {normpath(join(folder.name, path)): path for path in paths if path.lower().endswith(SUFFIXES)}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._contents:
            data = self._contents[path] = self._read_file(self._names[path])
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                limit = f"{self._max_bytes:,} bytes"
                raise Exhausted(f"the Python files of this folder have more than {limit}: name a smaller folder")
        return self._contents[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, path: object) -> bool:
        return path in self._names

    def _read_file(self, name: str) -> bytes:
        try:
            return self._folder.path.below(name).read(MAX_FILE_BYTES)
        except (NotFound, Refused, BadInput, Exhausted):
            self.skipped += 1
            return b""
