"""What the forms share: the protocol, times, line ends."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from marid.assembly.items import Item, Section
from marid.text.visible import shown_path


class Renderer(Protocol):
    """Turns sections and items into bytes, piece by piece; `first` tells that nothing stands before it."""

    def opening(self) -> bytes: ...
    def section(self, section: Section, *, first: bool) -> Sequence[bytes]: ...
    def item(self, item: Item, *, first: bool) -> Sequence[bytes]: ...
    def name(self, item: Item) -> bytes: ...
    def names(self, items: Sequence[Item], *, first: bool) -> Sequence[bytes]: ...
    def closing(self) -> bytes: ...


def moment(seconds: float) -> str:
    """A file's time as the headers show it, in UTC."""
    return _moment(int(seconds // 1))


@lru_cache(4096)  # a checkout gives thousands of files the same second
def _moment(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    except (OSError, OverflowError, ValueError):
        return _moment(0)  # a file system may hold times that no calendar has


def ended(body: bytes) -> bytes:
    """What is missing for `body` to end with a newline."""
    return b"" if body.endswith(b"\n") else b"\n"


def name_line(item: Item) -> bytes:
    """A file of which only the name is shown."""
    return f"{shown_path(item.path)} ({item.size} bytes)\n".encode()
