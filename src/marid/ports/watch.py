"""News of files that changed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol


class FileWatcher(Protocol):
    """Changes that come close together are told together."""

    def changes(self, folders: Sequence[str], stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        """Sets of absolute paths that changed below the folders, until `stop()` is true.

        The first set comes as soon as the watch stands and is empty unless something has changed already: what is
        read after it cannot change unseen. A path may be that of a folder, also one of `folders`: then anything below
        it may have changed. A folder that vanishes is told and waited for.

        Raises:
            NotFound: one of the folders is not there at the start.
            Unavailable: the system cannot watch them.
            KeyboardInterrupt: Ctrl-C while waiting.
        """
        ...
