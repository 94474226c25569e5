"""`context.jsonl`: the window as a file for others to read. Derived, never synced, and made anew at any doubt."""

import os
from collections.abc import Sequence
from contextlib import suppress

from marid.adapters.store.entries import encode
from marid.adapters.store.files import ADD, open_file, read_bytes, remove, write_whole
from marid.adapters.store.layout import Place
from marid.core.entry import Entry
from marid.workspace.replace import write_all

_MOST_PENDING = 64


class Window:
    """Written by the holder of the lease, from `begin` on: until then the file may be all that there is of a
    conversation. A disk that refuses is no error here: the next opening makes it right.
    """

    def __init__(self, place: Place, entries: Sequence[Entry]) -> None:
        self._place = place
        self._fd = -1
        self._begun = False
        self._right = False
        self._pending: list[bytes] = []
        self.entries = list(entries)

    def begin(self) -> None:
        """The transcript has all of it: bring the file up to date, now and from now on."""
        self._begun = True
        self._pending.clear()
        self._check()

    def add(self, added: Sequence[Entry], data: bytes) -> None:
        """More entries, which are these lines; the file follows in its time, so that no append waits for it."""
        self.entries += added
        self._pending.append(data)
        if len(self._pending) >= _MOST_PENDING:
            self.flush()

    def flush(self) -> None:
        """Bring the file up to date."""
        if not self._begun:
            return
        data = b"".join(self._pending)
        self._pending.clear()
        if not self._right:
            self._rewrite()
        elif data:
            self._append(data)

    def _append(self, data: bytes) -> None:
        self._right = False
        with suppress(OSError):
            if self._fd < 0:
                self._fd = open_file(self._place.window, ADD)
            size = os.lseek(self._fd, 0, os.SEEK_END)
            try:
                write_all(self._fd, [data])
                self._right = True
            except OSError:
                # On a full disk a part of a line would stay, and nothing could be put in its place.
                os.ftruncate(self._fd, size)

    def replace(self, entries: Sequence[Entry]) -> None:
        """Another window, as after an anchor."""
        self.entries = list(entries)
        self._rewrite()

    def close(self) -> None:
        """Bring the file up to date and let go of it."""
        self.flush()
        self.let_go()

    def let_go(self) -> None:
        """Leave the file as it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _check(self) -> None:
        """Whether the file is what it should be; else it is written anew."""
        with suppress(OSError):
            self._right = read_bytes(self._place.window) == self._data()
            if not self._right:
                self._rewrite()
            remove(self._place.file(".dirty"))

    def _rewrite(self) -> None:
        self.let_go()
        self._pending.clear()
        self._right = False
        if not self._begun:
            return
        with suppress(OSError):
            write_whole(self._place.window, self._data(), durable=False)
            self._right = True

    def _data(self) -> bytes:
        return b"".join(encode(entry) for entry in self.entries)
