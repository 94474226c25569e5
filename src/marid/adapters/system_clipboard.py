"""The clipboard, filled by a program or by the terminal."""

import base64
import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from marid.adapters.process import programs
from marid.core.errors import Unavailable

TIMEOUT = 5.0
MAX_SEQUENCE_LENGTH = 100_000
# These print the escape sequence, or ignore it.
PLAIN_TERMINALS = ("", "dumb", "linux")


class ClipboardProgram(NamedTuple):
    """A program that fills the clipboard from its input, and the environment variable that it needs."""

    argv: Sequence[str]
    required_variable: str = ""
    encode: Callable[[bytes], bytes] = bytes


def windows_text(data: bytes) -> bytes:
    """UTF-16 with a byte order mark, without which clip.exe assumes an old code page."""
    return b"\xff\xfe" + data.decode("utf-8", "replace").encode("utf-16-le")


CLIPBOARD_PROGRAMS = (
    ClipboardProgram(("wl-copy", "--type", "text/plain;charset=utf-8"), required_variable="WAYLAND_DISPLAY"),
    ClipboardProgram(("xclip", "-selection", "clipboard"), required_variable="DISPLAY"),
    ClipboardProgram(("xsel", "--clipboard", "--input"), required_variable="DISPLAY"),
    ClipboardProgram(("pbcopy",)),
    ClipboardProgram(("clip.exe",), encode=windows_text),
)


class SystemClipboard:
    """The port Clipboard; `env` is the user's environment, `terminal` the device to use if no program works.

    No program below `roots` is used.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        roots: Sequence[str] = (),
        terminal: str = "/dev/tty",
        timeout: float = TIMEOUT,
    ) -> None:
        # pbcopy reads UTF-8 only with this variable.
        self._env = {"LC_CTYPE": "UTF-8"} | programs.trusted_environment(env, roots)
        self._roots = roots
        self._terminal = terminal
        self._timeout = timeout

    def copy(self, data: bytes) -> str:
        """A program that fails is skipped."""
        for program in CLIPBOARD_PROGRAMS:
            if self._copy_with_program(program, data):
                return program.argv[0]
        if self._copy_with_terminal(data):
            return "OSC 52"
        names = ", ".join(program.argv[0] for program in CLIPBOARD_PROGRAMS)
        raise Unavailable(
            f"cannot copy to the clipboard: none of {names} works, nor does OSC 52 of the terminal"
            f" (at most {MAX_SEQUENCE_LENGTH * 3 // 4:,} bytes; these are {len(data):,})"
        )

    def _copy_with_program(self, program: ClipboardProgram, data: bytes) -> bool:
        path = programs.find(program.argv[0], self._env, self._roots)
        if path is None or (program.required_variable and not self._env.get(program.required_variable)):
            return False
        argv = [path, *program.argv[1:]]
        with suppress(Unavailable):
            return programs.feed(argv, program.encode(data), env=self._env, timeout=self._timeout) == 0
        return False

    def _copy_with_terminal(self, data: bytes) -> bool:
        """Whether the sequence was written; the terminal does not confirm it."""
        encoded = base64.b64encode(data)
        if len(encoded) > MAX_SEQUENCE_LENGTH or self._env.get("TERM", "") in PLAIN_TERMINALS:
            return False
        flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with open(os.open(self._terminal, flags), "wb", buffering=0) as device:
                return device.isatty() and self._write(device.fileno(), b"\x1b]52;c;" + encoded + b"\x07")
        except OSError:
            return False

    def _write(self, descriptor: int, data: bytes) -> bool:
        """Whether the terminal took all of it in time."""
        deadline = time.monotonic() + self._timeout
        while data:
            _, ready, _ = select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            data = data[os.write(descriptor, data) :]
        return True
