"""What the forms share: the protocol, times, line ends."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from marid.assembly.items import ContextItem, Section
from marid.text.display import quote_path


class FormatRenderer(Protocol):
    """Turns sections and items into bytes, piece by piece; `first` tells that nothing stands before it."""

    def prologue(self) -> bytes: ...
    def section(self, section: Section, *, first: bool) -> Sequence[bytes]: ...
    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]: ...
    def name(self, item: ContextItem) -> bytes: ...
    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]: ...
    def epilogue(self) -> bytes: ...


def format_mtime(seconds: float) -> str:
    """A file's time as the headers show it, in UTC."""
    return _format_second(int(seconds // 1))


@lru_cache(4096)  # a checkout gives thousands of files the same second
def _format_second(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    except (OSError, OverflowError, ValueError):
        return _format_second(0)  # a file system may hold times that no calendar has


def missing_newline(body: bytes) -> bytes:
    """What is missing for `body` to end with a newline."""
    return b"" if body.endswith(b"\n") else b"\n"


def name_line(item: ContextItem) -> bytes:
    """A file of which only the name is shown."""
    return f"{quote_path(item.path)} ({item.size} bytes)\n".encode()
