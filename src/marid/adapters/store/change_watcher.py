"""Wakes the followers of conversations: one thread for all followers of a store."""

import os
import time
from collections.abc import Callable
from threading import Lock, Thread

from marid.adapters.store.append_log import length_marker

_POLL_INTERVAL = 0.02
# Seconds after which a file's time is surely older than its last change: file systems may store whole seconds.
_SETTLED_AGE = 2.0


class _WatchedFile:
    """A file as it was last seen, and its followers."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, ...] = ()
        self._length: tuple[int, int] | None = None
        self.followers: list[Callable[[], object]] = []
        self.is_changed()

    def is_changed(self) -> bool:
        """Whether the content has changed since the last call. Padded files grow without a change of size, so the
        length is read unless the file's time is old enough to be trusted.
        """
        try:
            about = os.stat(self._path)
            stamp = about.st_ino, about.st_size, about.st_mtime_ns
            if stamp == self._stamp and time.time() - about.st_mtime > _SETTLED_AGE:
                return False
            length = length_marker(self._path)
        except OSError:
            stamp, length = (), None
        changed = length != self._length
        self._stamp, self._length = stamp, length
        return changed


class ChangeWatcher:
    """Checks every followed file 50 times a second. Its thread ends with the last follower."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[str, _WatchedFile] = {}
        self._thread: Thread | None = None

    def subscribe(self, path: str, wake: Callable[[], object]) -> Callable[[], None]:
        """Call `wake` now and at every change of the file, until the returned function is called."""
        with self._lock:
            if path not in self._files:
                self._files[path] = _WatchedFile(path)
            self._files[path].followers.append(wake)
            # A forked child does not have the thread.
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, daemon=True, name="marid followers")
                self._thread.start()
        wake()
        return lambda: self._unsubscribe(path, wake)

    def _unsubscribe(self, path: str, wake: Callable[[], object]) -> None:
        with self._lock:
            file = self._files.get(path)
            if file is not None and wake in file.followers:
                file.followers.remove(wake)
                if not file.followers:
                    del self._files[path]

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._files:
                    self._thread = None
                    return
                files = dict(self._files)
            for path, file in files.items():
                if file.is_changed():
                    for wake in tuple(file.followers):
                        self._wake(path, wake)
            time.sleep(_POLL_INTERVAL)

    def _wake(self, path: str, wake: Callable[[], object]) -> None:
        try:
            wake()
        except Exception:  # noqa: BLE001 (a follower with a closed event loop must not stop the others)
            self._unsubscribe(path, wake)
