"""What an earlier run has read, so that a watch reads only what changed."""

from collections.abc import Callable, Iterable, Iterator, Set

from marid.assembly.selection import Selection
from marid.workspace.read import Content, FileReader
from marid.workspace.walk import Folder


class ContentCache:
    """Contents by path, and the selection as long as nothing but contents changed."""

    def __init__(self) -> None:
        self.selection: Selection | None = None
        self._contents: dict[str, Content | None] = {}  # None: read, and no text

    def select(self, walk: Callable[[], Selection]) -> Selection:
        """The selection; `walk` makes it where it is not known."""
        if self.selection is None:
            self.selection = walk()
        return self.selection

    def invalidate(self, paths: Set[str], *, walk: bool) -> None:
        """These files changed, or anything in these folders; with `walk`, which files there are may have too."""
        known = paths & self._contents.keys()
        for path in known:
            del self._contents[path]
        if others := paths - known:
            self._contents = {
                path: content for path, content in self._contents.items() if others.isdisjoint(_folders_of(path))
            }
        if walk:
            self.selection = None

    def read(self, reader: FileReader, folders: Iterable[Folder]) -> Iterator[Content]:
        """As `reader.read`, asking the disk only for what is not known."""
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


def _folders_of(path: str) -> Iterator[str]:
    """Every folder that `path` lies in, the top (`.`) included."""
    yield "."
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
