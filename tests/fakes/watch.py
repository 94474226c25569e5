"""A watch whose changes the test reports."""

import os
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue

from marid.core.errors import NotFound


class FakeWatch:
    """The port of file watches. All paths that `tell` got since the last set come in the next one."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self._told: SimpleQueue[str] = SimpleQueue()

    def tell(self, *paths: str) -> None:
        for path in paths:
            self._told.put(path)

    def changes(self, folders: Sequence[str], stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        for folder in folders:
            if not os.path.isdir(folder):
                raise NotFound(f'cannot watch "{folder}"')
        self.folders = [os.path.abspath(folder) for folder in folders]
        return self._sets(stop)

    def _sets(self, stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        standing = False
        while not stop():
            changed = self._waiting()
            if changed or not standing:
                standing = True
                yield changed

    def _waiting(self) -> frozenset[str]:
        found: set[str] = set()
        try:
            found.add(self._told.get(timeout=0.01))
            while True:
                found.add(self._told.get_nowait())
        except Empty:
            return frozenset(found)
