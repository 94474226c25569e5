"""`context.jsonl`: the window as a file for other programs. Derived, never synced, rewritten at any doubt."""

import os
from collections.abc import Sequence
from contextlib import suppress

from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.files import APPEND_FLAGS, open_file, read_bytes, remove_if_exists, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import Entry
from marid.workspace.write.atomic import write_all

_MAX_PENDING = 64


class WindowFile:
    """Written by the holder of the lease after `start`: before that, the file of another program may be the only copy
    of a conversation. Disk errors are ignored, since the next opening repairs the file.
    """

    def __init__(self, paths: ConversationPaths, entries: Sequence[Entry]) -> None:
        self._paths = paths
        self._fd = -1
        self._is_started = False
        self._is_current = False
        self._pending: list[bytes] = []
        self.entries = list(entries)

    def start(self) -> None:
        """The transcript is complete: bring the file up to date, and keep it so."""
        self._is_started = True
        self._pending.clear()
        with suppress(OSError):
            self._is_current = read_bytes(self._paths.window) == self._encoded_window()
            if not self._is_current:
                self._rewrite()
            remove_if_exists(self._paths.file(".dirty"))

    def add(self, added: Sequence[Entry], data: bytes) -> None:
        """Add entries, encoded as `data`. The file is written later, so that appends do not wait for it."""
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
                # On a full disk a part of a line would be left.
                os.ftruncate(self._fd, size)

    def replace(self, entries: Sequence[Entry]) -> None:
        """Start another window, as after an anchor."""
        self.entries = list(entries)
        self._rewrite()

    def close(self) -> None:
        """Bring the file up to date and close it."""
        self.flush()
        self.abandon()

    def abandon(self) -> None:
        """Close the file as it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

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
