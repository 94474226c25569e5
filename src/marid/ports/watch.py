"""Port to the watcher of files."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol


class FileWatcher(Protocol):
    """Reports changes that come close together as one set."""

    def changes(self, folders: Sequence[str], stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        """Sets of absolute paths that changed below the folders, until `stop()` is true.

        The first set, usually empty, comes when the watch is active: later changes cannot be missed. If a path is a
        folder, anything below it may have changed. A folder that vanishes is reported and waited for.

        Raises: NotFound if a folder does not exist at the start; Unavailable if they cannot be watched;
        KeyboardInterrupt on Ctrl-C.
        """
        ...
