"""The clipboard: a program that knows it, or else the terminal that we run in."""

import base64
import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from marid.adapters.process import programs
from marid.core.errors import Unavailable

TIMEOUT = 5.0
MAX_SEQUENCE_LENGTH = 100_000
# These show the escape sequence, or nothing, instead of obeying it.
PLAIN_TERMINALS = ("", "dumb", "linux")


@dataclass(frozen=True, kw_only=True)
class ClipboardProgram:
    """A program that fills the clipboard from its input, and the variable without which it cannot."""

    argv: Sequence[str]
    required_variable: str | None = None
    encode: Callable[[bytes], bytes] = bytes


def windows_text(data: bytes) -> bytes:
    """UTF-16 with a mark, without which clip.exe takes the bytes for an old code page."""
    return b"\xff\xfe" + data.decode("utf-8", "replace").encode("utf-16-le")


CLIPBOARD_PROGRAMS = (
    ClipboardProgram(argv=("wl-copy", "--type", "text/plain;charset=utf-8"), required_variable="WAYLAND_DISPLAY"),
    ClipboardProgram(argv=("xclip", "-selection", "clipboard"), required_variable="DISPLAY"),
    ClipboardProgram(argv=("xsel", "--clipboard", "--input"), required_variable="DISPLAY"),
    ClipboardProgram(argv=("pbcopy",)),
    ClipboardProgram(argv=("clip.exe",), encode=windows_text),
)


class SystemClipboard:
    """The port Clipboard; `env` is the user's environment, `terminal` the device to speak to as a last resort."""

    def __init__(self, env: Mapping[str, str], *, terminal: str = "/dev/tty", timeout: float = TIMEOUT) -> None:
        # pbcopy takes its input for UTF-8 only when it is told so.
        self._env = {"LC_CTYPE": "UTF-8"} | dict(env)
        self._terminal = terminal
        self._timeout = timeout

    def copy(self, data: bytes) -> str:
        """As in the port; a tool that is there and fails is passed over for the next."""
        for tool in CLIPBOARD_PROGRAMS:
            if self._copy_with_program(tool, data):
                return tool.argv[0]
        if self._copy_with_terminal(data):
            return "OSC 52"
        names = ", ".join(tool.argv[0] for tool in CLIPBOARD_PROGRAMS)
        raise Unavailable(
            f"no clipboard took the text: looked for {names} and a terminal that knows OSC 52"
            f" (at most {MAX_SEQUENCE_LENGTH * 3 // 4:,} bytes; these are {len(data):,})"
        )

    def _copy_with_program(self, tool: ClipboardProgram, data: bytes) -> bool:
        program = programs.find(tool.argv[0], self._env)
        if program is None or (tool.required_variable is not None and not self._env.get(tool.required_variable)):
            return False
        try:
            argv = [program, *tool.argv[1:]]
            return programs.feed(argv, tool.encode(data), env=self._env, timeout=self._timeout) == 0
        except Unavailable:
            return False

    def _copy_with_terminal(self, data: bytes) -> bool:
        """Whether the terminal was given the text in the sequence that fills its clipboard; it does not answer."""
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
        """All of it, unless the terminal stops listening."""
        deadline = time.monotonic() + self._timeout
        while data:
            _, ready, _ = select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            data = data[os.write(descriptor, data) :]
        return True
