"""Pseudo terminals: one to write to, and one with the program in it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO


class Terminal:
    """`file` is what a program writes to; `text` returns what was shown since the last call."""

    def __init__(self, file: TextIO, master: int) -> None:
        self.file = file
        self._master = master

    def text(self) -> str:
        self.file.flush()
        found = b""
        while True:
            try:
                found += os.read(self._master, 65536)
            except BlockingIOError:
                return found.decode()


@contextmanager
def terminal() -> Generator[Terminal]:
    """A pseudo terminal that passes everything on unchanged."""
    master, line = pty.openpty()
    os.set_blocking(master, False)
    tty.setraw(line)
    with open(line, "w", encoding="utf-8") as file:
        yield Terminal(file, master)
    os.close(master)


SECONDS = 20.0
# Not between fork and exec: this process has threads.
_IN_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "marid", *sys.argv[1:]])
"""


class TerminalSession:
    """Starts `marid ARGS` with a terminal of its own. With `piped`, stdout is a pipe, with `given` stdin is one."""

    def __init__(self, *args: str, piped: bool = False, given: bytes | None = None) -> None:
        self._master, line = pty.openpty()
        fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        out = subprocess.PIPE if piped else line
        self._child = subprocess.Popen(
            [sys.executable, "-c", _IN_A_TERMINAL, *args],
            stdin=line if given is None else subprocess.PIPE,
            stdout=out,
            stderr=line,
            env={**os.environ, "TERM": "xterm"},
            start_new_session=True,
        )
        os.close(line)
        self.shown = ""
        if self._child.stdin is not None:
            with self._child.stdin as pipe:
                pipe.write(given or b"")

    def __enter__(self) -> "TerminalSession":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()
        os.close(self._master)

    def type(self, text: str) -> None:
        """Also control characters: \x03 is Ctrl-C, \x04 Ctrl-D."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> str:
        """Wait until the text are there; all that was shown so far."""
        until = time.monotonic() + SECONDS
        while text not in self.shown:
            if not self._look(until):
                raise AssertionError(f"{text!r} never came: {self.shown!r}")
        return self.shown

    def wait_exit(self) -> int:
        """Wait until the program ends: its exit code."""
        until = time.monotonic() + SECONDS
        while self._look(until):
            pass
        return self._child.wait(SECONDS)

    def hang_up(self) -> bytes:
        """Read the first byte of a piped answer, then close the pipe."""
        assert self._child.stdout is not None
        first = os.read(self._child.stdout.fileno(), 1)
        self._child.stdout.close()
        return first

    def _look(self, until: float) -> bool:
        """Take in what there is; false when nothing more will come."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self._master, 65536)
        except OSError:  # the program has closed the terminal
            return False
        self.shown += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)
