"""The clipboard: a program that knows it, or else the terminal that we run in."""

import base64
import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from marid.adapters import processes
from marid.core.errors import Unavailable

SECONDS = 5.0
LARGEST_SEQUENCE = 100_000
# These show the escape sequence, or nothing, instead of obeying it.
PLAIN_TERMINALS = ("", "dumb", "linux")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A program that fills the clipboard from its input, and the variable without which it cannot."""

    argv: Sequence[str]
    needs: str | None = None
    encode: Callable[[bytes], bytes] = bytes


def windows_text(data: bytes) -> bytes:
    """UTF-16 with a mark, without which clip.exe takes the bytes for an old code page."""
    return b"\xff\xfe" + data.decode("utf-8", "replace").encode("utf-16-le")


TOOLS = (
    Tool(argv=("wl-copy", "--type", "text/plain;charset=utf-8"), needs="WAYLAND_DISPLAY"),
    Tool(argv=("xclip", "-selection", "clipboard"), needs="DISPLAY"),
    Tool(argv=("xsel", "--clipboard", "--input"), needs="DISPLAY"),
    Tool(argv=("pbcopy",)),
    Tool(argv=("clip.exe",), encode=windows_text),
)


class SystemClipboard:
    """The port Clipboard; `env` is the user's environment, `terminal` the device to speak to as a last resort."""

    def __init__(self, env: Mapping[str, str], *, terminal: str = "/dev/tty", seconds: float = SECONDS) -> None:
        # pbcopy takes its input for UTF-8 only when it is told so.
        self._env = {"LC_CTYPE": "UTF-8"} | dict(env)
        self._terminal = terminal
        self._seconds = seconds

    def copy(self, data: bytes) -> str:
        """As in the port; a tool that is there and fails is passed over for the next."""
        for tool in TOOLS:
            if self._takes(tool, data):
                return tool.argv[0]
        if self._sends(data):
            return "OSC 52"
        names = ", ".join(tool.argv[0] for tool in TOOLS)
        raise Unavailable(
            f"no clipboard took the text: looked for {names} and a terminal that knows OSC 52"
            f" (at most {LARGEST_SEQUENCE * 3 // 4:,} bytes; these are {len(data):,})"
        )

    def _takes(self, tool: Tool, data: bytes) -> bool:
        program = processes.find(tool.argv[0], self._env)
        if program is None or (tool.needs is not None and not self._env.get(tool.needs)):
            return False
        try:
            argv = [program, *tool.argv[1:]]
            return processes.feed(argv, tool.encode(data), env=self._env, seconds=self._seconds) == 0
        except Unavailable:
            return False

    def _sends(self, data: bytes) -> bool:
        """Whether the terminal was given the text in the sequence that fills its clipboard; it does not answer."""
        encoded = base64.b64encode(data)
        if len(encoded) > LARGEST_SEQUENCE or self._env.get("TERM", "") in PLAIN_TERMINALS:
            return False
        flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with open(os.open(self._terminal, flags), "wb", buffering=0) as device:
                return device.isatty() and self._write(device.fileno(), b"\x1b]52;c;" + encoded + b"\x07")
        except OSError:
            return False

    def _write(self, descriptor: int, data: bytes) -> bool:
        """All of it, unless the terminal stops listening."""
        deadline = time.monotonic() + self._seconds
        while data:
            _, ready, _ = select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            data = data[os.write(descriptor, data) :]
        return True
