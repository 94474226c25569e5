"""`context.jsonl`: the window as a file for others to read. Derived, never synced, and made anew at any doubt."""

import os
from collections.abc import Sequence
from contextlib import suppress

from marid.adapters.store.atomic_files import APPEND_FLAGS, open_file, read_bytes, remove_if_exists, write_atomic
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import Entry
from marid.workspace.write.atomic import write_all

_MAX_PENDING = 64


class WindowFile:
    """Written by the holder of the lease, from `begin` on: until then the file may be all that there is of a
    conversation. A disk that refuses is no error here: the next opening makes it right.
    """

    def __init__(self, paths: ConversationPaths, entries: Sequence[Entry]) -> None:
        self._paths = paths
        self._fd = -1
        self._is_started = False
        self._is_current = False
        self._pending: list[bytes] = []
        self.entries = list(entries)

    def start(self) -> None:
        """The transcript has all of it: bring the file up to date, now and from now on."""
        self._is_started = True
        self._pending.clear()
        self._check_file()

    def add(self, added: Sequence[Entry], data: bytes) -> None:
        """More entries, which are these lines; the file follows in its time, so that no append waits for it."""
        self.entries += added
        self._pending.append(data)
        if len(self._pending) >= _MAX_PENDING:
            self.flush()

    def flush(self) -> None:
        """Bring the file up to date."""
        if not self._is_started:
            return
        data = b"".join(self._pending)
        self._pending.clear()
        if not self._is_current:
            self._rewrite()
        elif data:
            self._append(data)

    def _append(self, data: bytes) -> None:
        self._is_current = False
        with suppress(OSError):
            if self._fd < 0:
                self._fd = open_file(self._paths.window, APPEND_FLAGS)
            size = os.lseek(self._fd, 0, os.SEEK_END)
            try:
                write_all(self._fd, [data])
                self._is_current = True
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
        self.abandon()

    def abandon(self) -> None:
        """Leave the file as it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _check_file(self) -> None:
        """Whether the file is what it should be; else it is written anew."""
        with suppress(OSError):
            self._is_current = read_bytes(self._paths.window) == self._encoded_window()
            if not self._is_current:
                self._rewrite()
            remove_if_exists(self._paths.file(".dirty"))

    def _rewrite(self) -> None:
        self.abandon()
        self._pending.clear()
        self._is_current = False
        if not self._is_started:
            return
        with suppress(OSError):
            write_atomic(self._paths.window, self._encoded_window(), durable=False)
            self._is_current = True

    def _encoded_window(self) -> bytes:
        return b"".join(encode_line(entry) for entry in self.entries)
