"""File changes as the system tells them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from marid.core.errors import NotFound, Unavailable

_DEBOUNCE_STEP_MS = 50  # after so long without a further change a set is told,
_MAX_DEBOUNCE_MS = 1600  # and after so long in any case
_TRIES = 5


class FileWatch:
    """Watches whole trees and filters nothing: which files matter is for the rules to say."""

    def changes(self, folders: Sequence[str], stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        """See the port; `stop` is asked some twenty times a second."""
        roots = tuple(os.path.abspath(folder) for folder in folders)
        for root in roots:
            if not os.path.isdir(root):
                raise NotFound(f'cannot watch "{root}": there is no such folder')
            if not os.fsencode(root).decode("utf-8", "replace") == root:
                raise Unavailable(f"cannot watch {root!r}: its name is not UTF-8")
        return _WatchLoop(roots, stop).change_sets()


class _WatchLoop:
    """One watch after another: when one has lost a root or its way, the next begins by telling what may be missed."""

    def __init__(self, roots: tuple[str, ...], stop: Callable[[], bool]) -> None:
        self._roots = roots
        self._stop = stop
        self._missed: frozenset[str] = frozenset()
        self._failed_watches = 0  # watches in a row that ended before they told anything
        self._recursive = True  # whole trees; else folder by folder

    def change_sets(self) -> Iterator[frozenset[str]]:
        while not self._stop():
            try:
                yield from self._run_watch()
            except (RuntimeError, OSError) as error:
                self._recover(error)

    def _recover(self, error: Exception) -> None:
        if isinstance(error, PermissionError) and self._recursive:
            # One folder that may not be read, and the library watches either nothing or an unknown part of the tree.
            self._recursive = False
            return
        # Else a changed file whose name is not UTF-8, a root that vanished just now, or nothing that passes.
        self._missed = frozenset(self._roots)
        self._failed_watches += 1
        if self._failed_watches == _TRIES:
            names = ", ".join(f'"{root}"' for root in self._roots)
            hint = "the system's limit of watched files may be too low"
            raise Unavailable(f"cannot watch {names}: {error}; {hint}") from error

    def _run_watch(self) -> Iterator[frozenset[str]]:
        before = _identities(self._roots)
        there = {os.path.realpath(root): root for root in self._roots if before[root]}
        folders = frozenset(there if self._recursive else _readable(there))
        standing = False
        for paths in _raw_changes(folders, self._stop, recursive=self._recursive):
            changed = frozenset(_restore_root_path(path, there) for path in paths)
            lost = self._find_lost_folders(before, folders, changed)
            if lost:
                self._missed |= changed | lost
                return
            if changed or not standing:
                standing, self._failed_watches = True, 0
                missed, self._missed = self._missed, frozenset()
                yield missed | changed

    def _find_lost_folders(
        self, before: Mapping[str, tuple[int, int] | None], folders: frozenset[str], changed: frozenset[str]
    ) -> frozenset[str]:
        """The folders that this watch does not see any more, or not yet."""
        after = _identities(self._roots)
        # The number of a folder may be used again at once, but that it was deleted is told.
        moved = frozenset(root for root in self._roots if after[root] != before[root] or root in changed)
        if self._recursive:
            return moved
        return moved | frozenset(path for path in changed if path not in folders and os.path.isdir(path))


class _Event:
    """What the library asks whether to go on."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop

    def is_set(self) -> bool:
        return self._stop()


def _raw_changes(folders: Iterable[str], stop: Callable[[], bool], *, recursive: bool) -> Iterator[frozenset[str]]:
    """What changed, and an empty set whenever nothing did for a moment."""
    from watchfiles import watch  # imported when used: 45 ms

    for changes in watch(
        *folders,
        watch_filter=None,
        debounce=_MAX_DEBOUNCE_MS,
        step=_DEBOUNCE_STEP_MS,
        stop_event=_Event(stop),
        rust_timeout=_DEBOUNCE_STEP_MS,
        yield_on_timeout=True,
        debug=False,
        raise_interrupt=True,
        force_polling=False,
        recursive=recursive,
        ignore_permission_denied=False,  # true would also hide that the limit of watches is reached
    ):
        yield frozenset(path for _, path in changes)


def _readable(roots: Iterable[str]) -> Iterator[str]:
    for root in roots:
        for folder, _, _ in os.walk(root):  # passes over what may not be read
            yield folder


def _restore_root_path(path: str, there: Mapping[str, str]) -> str:
    """Below a root that is reached by a link some systems name files by the link, some by where it leads."""
    for real, root in there.items():
        if real != root and (path == real or path.startswith(real + os.sep)):
            return root + path[len(real) :]
    return path


def _identities(roots: Sequence[str]) -> dict[str, tuple[int, int] | None]:
    return {root: _identity(root) for root in roots}


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(os.path.join(root, ""))  # the slash: a file in its place is no folder
    except OSError:
        return None
    return status.st_dev, status.st_ino
