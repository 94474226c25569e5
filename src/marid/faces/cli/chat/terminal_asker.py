"""Asking a person on the terminal itself, whatever stdin and stdout are."""

import contextlib
import os
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from marid.core.policy.approval import ApprovalAnswer, Question

if TYPE_CHECKING:
    import anyio

TTY = "/dev/tty"
_ANSWERS = {
    "y": ApprovalAnswer.YES,
    "yes": ApprovalAnswer.YES,
    "n": ApprovalAnswer.NO,
    "no": ApprovalAnswer.NO,
    "": ApprovalAnswer.NO,
}
_ALWAYS = {"a": ApprovalAnswer.ALWAYS, "always": ApprovalAnswer.ALWAYS}
_TRIES = 3
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def open_terminal_asker(path: str = TTY, *, colour: bool = False) -> "TerminalAsker | None":
    """Somebody to ask, if there is a terminal."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return None
    return TerminalAsker(path, colour=colour)


class TerminalAsker:
    """Asks one question at a time. Enter alone is no; what was typed before the question was shown does not count."""

    def __init__(self, path: str, *, colour: bool) -> None:
        self._path = path
        self._colour = colour

    @cached_property
    def _lock(self) -> "anyio.Lock":
        import anyio  # imported when used: most calls ask nothing

        return anyio.Lock()

    async def ask(self, question: Question) -> ApprovalAnswer | None:
        """What the person says; None when the terminal has gone."""
        async with self._lock:
            try:
                with _TtyHandle(self._path) as tty:
                    return await self._answer(tty, question)
            except OSError:
                return None

    async def _answer(self, tty: "_TtyHandle", question: Question) -> ApprovalAnswer | None:
        title = f"{question.tool} wants to {_ACTION_TEXTS[question.kind.value]}"
        tty.write(f"\n{_BOLD}{title}{_PLAIN}\n" if self._colour else f"\n{title}\n")
        tty.write(f"{question.text.rstrip()}\n")
        offered = "y = yes, n = no, a = always" if question.always else "y = yes, n = no"
        known = {**_ANSWERS, **(_ALWAYS if question.always else {})}
        for _ in range(_TRIES):
            tty.flush_input()
            tty.write(f"Allow it? [{offered}; Enter = no] ")
            try:
                said = await tty.read_line()
            except BaseException:
                # Somebody else has answered, or the call was cancelled.
                tty.write("\n(no longer asked)\n")
                raise
            if said is None:
                tty.write("\n")  # Ctrl-D on a terminal that is there; one that has gone fails here
                return ApprovalAnswer.NO
            if said.strip().lower() in known:
                return known[said.strip().lower()]
        return ApprovalAnswer.NO


_ACTION_TEXTS = {
    "edit": "change files:",
    "command": "run a command:",
    "fetch": "use the network:",
    "spawn": "start another agent:",
    "outside": "touch a path outside of the project:",
    "call": "be called:",
}


class _TtyHandle:
    """The terminal, open while one question is asked."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)

    def __enter__(self) -> "_TtyHandle":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._fd, data) :]

    def flush_input(self) -> None:
        import termios

        with contextlib.suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)

    async def read_line(self) -> str | None:
        """A line that is typed, without blocking anything else; None when there will be none."""
        import anyio

        said = b""
        while not said.endswith(b"\n"):
            await anyio.wait_readable(self._fd)
            part = os.read(self._fd, 1000)
            if not part:
                return None
            said += part
        return said.decode("utf-8", "replace")
