"""Contents of an earlier run, so that a watch reads only changed files."""

from collections.abc import Callable, Iterable, Iterator, Set
from itertools import accumulate

from marid.assembly.selection import Selection
from marid.workspace.read import Content, FileReader
from marid.workspace.walk import Folder


class ContentCache:
    """Contents by path, and the selection while the set of files stays the same."""

    def __init__(self) -> None:
        self.selection: Selection | None = None
        self._contents: dict[str, Content | None] = {}  # None: not a text file

    def select(self, walk: Callable[[], Selection]) -> Selection:
        """The cached selection, or that of `walk`."""
        if self.selection is None:
            self.selection = walk()
        return self.selection

    def invalidate(self, paths: Set[str], *, walk: bool) -> None:
        """Forget these files and everything in these folders; with `walk`, the selection too."""
        known = paths & self._contents.keys()
        for path in known:
            del self._contents[path]
        if others := paths - known:
            self._contents = {
                path: content
                for path, content in self._contents.items()
                if others.isdisjoint((".", *accumulate(path.split("/")[:-1], "{}/{}".format)))
            }
        if walk:
            self.selection = None

    def read(self, reader: FileReader, folders: Iterable[Folder]) -> Iterator[Content]:
        """As `reader.read`, but only unknown files are read from disk."""
        for path, names in folders:
            prefix = f"{path}/" if path else ""
            unknown = [name for name in names if prefix + name not in self._contents]
            if unknown:
                found = {content.path: content for content in reader.read([Folder(path, unknown)])}
                self._contents |= {prefix + name: found.get(prefix + name) for name in unknown}
            for name in names:
                content = self._contents[prefix + name]
                if content is not None:
                    yield content
