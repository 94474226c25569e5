"""File changes by the notifications of the system."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

from marid.core.errors import NotFound, Unavailable

_DEBOUNCE_STEP_MS = 50  # a set of changes is reported after this time without another change,
_MAX_DEBOUNCE_MS = 1600  # and after this time in any case
_TRIES = 5


class FileWatch:
    """Watches whole trees and filters nothing: the rules decide which files matter."""

    def changes(self, folders: Sequence[str], stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        """`stop` is called about twenty times a second."""
        roots = tuple(os.path.abspath(folder) for folder in folders)
        for root in roots:
            if not os.path.isdir(root):
                raise NotFound(f'cannot watch "{root}": no such folder')
            if not os.fsencode(root).decode("utf-8", "replace") == root:
                raise Unavailable(f"cannot watch {root!r}: its name is not UTF-8")
        return _WatchLoop(roots, stop).change_sets()


class _WatchLoop:
    """Starts a new watch when one has failed or lost a root; its first set has what may have been missed."""

    def __init__(self, roots: tuple[str, ...], stop: Callable[[], bool]) -> None:
        self._roots = roots
        self._stop = stop
        self._missed: frozenset[str] = frozenset()
        self._failed_watches = 0  # in a row, without a set of changes
        self._recursive = True  # else one watch per folder

    def change_sets(self) -> Iterator[frozenset[str]]:
        while not self._stop():
            try:
                yield from self._run_watch()
            except (RuntimeError, OSError) as error:
                self._recover(error)

    def _recover(self, error: Exception) -> None:
        if isinstance(error, PermissionError) and self._recursive:
            # With one unreadable folder the library watches nothing, or an unknown part of the tree.
            self._recursive = False
            return
        # A changed file whose name is not UTF-8, a root that has just vanished, or a lasting error.
        self._missed = frozenset(self._roots)
        self._failed_watches += 1
        if self._failed_watches == _TRIES:
            names = ", ".join(f'"{root}"' for root in self._roots)
            hint = "the system's limit of watched files may be too low"
            raise Unavailable(f"cannot watch {names}: {error}; {hint}") from error

    def _run_watch(self) -> Iterator[frozenset[str]]:
        before = {root: _identity(root) for root in self._roots}
        roots = {os.path.realpath(root): root for root in self._roots if before[root]}
        # `os.walk` skips unreadable folders.
        folders = frozenset(roots if self._recursive else (row[0] for root in roots for row in os.walk(root)))
        started = False
        for paths in _raw_changes(folders, self._stop, recursive=self._recursive):
            changed = frozenset(_restore_root_path(path, roots) for path in paths)
            # An inode number may be reused at once, but then the deletion is among the changes.
            lost = {root for root in self._roots if _identity(root) != before[root] or root in changed}
            if not self._recursive:
                lost |= {path for path in changed if path not in folders and os.path.isdir(path)}
            if lost:  # this watch does not see these folders any more, or yet
                self._missed |= changed | lost
                return
            if changed or not started:
                started, self._failed_watches = True, 0
                missed, self._missed = self._missed, frozenset()
                yield missed | changed


def _raw_changes(folders: Iterable[str], stop: Callable[[], bool], *, recursive: bool) -> Iterator[frozenset[str]]:
    """The changes, and an empty set after each moment without any."""
    from watchfiles import watch  # imported when used: 45 ms

    for changes in watch(
        *folders,
        watch_filter=None,
        debounce=_MAX_DEBOUNCE_MS,
        step=_DEBOUNCE_STEP_MS,
        stop_event=cast("Any", SimpleNamespace(is_set=stop)),
        rust_timeout=_DEBOUNCE_STEP_MS,
        yield_on_timeout=True,
        debug=False,
        force_polling=False,
        recursive=recursive,
        ignore_permission_denied=False,  # true would also hide that the limit of watches is reached
    ):
        yield frozenset(path for _, path in changes)


def _restore_root_path(path: str, roots: Mapping[str, str]) -> str:
    """If a root is a link, some systems report paths by the link, others by its target."""
    for real, root in roots.items():
        if real != root and (path == real or path.startswith(real + os.sep)):
            return root + path[len(real) :]
    return path


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(os.path.join(root, ""))  # the slash: a file in its place is not a folder
    except OSError:
        return None
    return status.st_dev, status.st_ino
