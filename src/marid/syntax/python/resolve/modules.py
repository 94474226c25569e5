"""Find the file of a module from the paths of a tree."""

import sys
from collections.abc import Iterable, Iterator
from posixpath import dirname, join

_SUFFIXES = (".py", "/__init__.py", ".pyi", "/__init__.pyi", ".pyw")
_PACKAGE = "__init__"


class ModuleIndex:
    """The modules of a tree by location, the path without suffix: `src/shop` is a package or `src/shop.py`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files = frozenset(paths)
        self._folders = frozenset(folder for path in self._files for folder in _parent_folders(path))
        self._top_level: dict[str, list[str]] = {}
        for place in sorted({*(_module_location(path) for path in self._files), *self._folders}):
            folder, _, name = place.rpartition("/")
            if name and not self._is_package(folder):
                self._top_level.setdefault(name, []).append(place)

    def file_path(self, location: str) -> str | None:
        """The path of the module at a location; None for a folder without `__init__`."""
        return next((location + ending for ending in _SUFFIXES if location + ending in self._files), None)

    def exists(self, location: str) -> bool:
        """Whether the location is a module or a folder of modules."""
        return location in self._folders or self.file_path(location) is not None

    def submodule(self, location: str, name: str) -> str | None:
        """The module of this name inside a package."""
        inner = join(location, name)
        return inner if location in self._folders and self.exists(inner) else None

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The location that an import in the file `importer` means; None if it is not in the tree."""
        parts = module.split(".") if module else []
        if level:
            folder = dirname(importer)
            for _ in range(level - 1):
                folder = dirname(folder)
            place = join(folder, *parts)
            return place if self.exists(place) else None
        return next((place for place in self._absolute_candidates(importer, parts) if self.exists(place)), None)

    def candidates(self, dotted: Iterable[str]) -> list[str]:
        """Every location that a dotted name can mean in any file."""
        first, *rest = dotted
        places = [join(top, *rest) for top in self._top_level.get(first, ())]
        return [place for place in places if self.file_path(place)]

    def _absolute_candidates(self, importer: str, parts: list[str]) -> Iterator[str]:
        """In the importer's folders, nearest first, then anywhere, unless the standard library has the module."""
        if not parts:
            return
        folder = dirname(importer)
        while True:
            if not self._is_package(folder) and self.exists(join(folder, parts[0])):
                yield join(folder, *parts)
            if not folder:
                break
            folder = dirname(folder)
        if parts[0] not in sys.stdlib_module_names:
            tops = self._top_level.get(parts[0], ())
            yield from (join(top, *parts[1:]) for top in sorted(tops, key=lambda top: (top.count("/"), top)))

    def _is_package(self, folder: str) -> bool:
        """The top of the tree is not a package: otherwise its modules would have no names."""
        return bool(folder) and any(join(folder, _PACKAGE + ending) in self._files for ending in (".py", ".pyi"))


def _parent_folders(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path


def _module_location(path: str) -> str:
    """The location of a file; that of a package is its folder."""
    stem = path.rpartition(".")[0]
    return dirname(path) if stem.rpartition("/")[2] == _PACKAGE else stem
