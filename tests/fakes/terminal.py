"""A pseudo terminal to write to."""

import os
import pty
import tty
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO


class Terminal:
    """`file` is what a program writes to; `text` returns what was shown since the last call."""

    def __init__(self, file: TextIO, glass: int) -> None:
        self.file = file
        self._glass = glass

    def text(self) -> str:
        self.file.flush()
        found = b""
        while True:
            try:
                found += os.read(self._glass, 65536)
            except BlockingIOError:
                return found.decode()


@contextmanager
def terminal() -> Generator[Terminal]:
    """A pseudo terminal that passes everything on unchanged."""
    glass, line = pty.openpty()
    os.set_blocking(glass, False)
    tty.setraw(line)
    with open(line, "w", encoding="utf-8") as file:
        yield Terminal(file, glass)
    os.close(glass)
