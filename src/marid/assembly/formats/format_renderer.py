"""What the formats share: the protocol, times, line endings."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from marid.assembly.items import ContextItem, Section
from marid.text.display import quote_path


class FormatRenderer(Protocol):
    """Turns sections and items into bytes; `first` if nothing precedes."""

    def prologue(self) -> bytes: ...
    def section(self, section: Section, *, first: bool) -> Sequence[bytes]: ...
    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]: ...
    def name(self, item: ContextItem) -> bytes: ...
    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]: ...
    def epilogue(self) -> bytes: ...


def format_mtime(seconds: float) -> str:
    """A modification time for a header, in UTC."""
    return _format_second(int(seconds // 1))


@lru_cache(4096)  # after a checkout thousands of files share a second
def _format_second(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    except (OSError, OverflowError, ValueError):
        return _format_second(0)  # a file system may have times beyond the calendar


def missing_newline(body: bytes) -> bytes:
    """A newline if `body` does not end with one."""
    return b"" if body.endswith(b"\n") else b"\n"


def name_line(item: ContextItem) -> bytes:
    """The line of a file that is shown by name."""
    return f"{quote_path(item.path)} ({item.size} bytes)\n".encode()
