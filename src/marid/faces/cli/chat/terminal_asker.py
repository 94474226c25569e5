"""Ask the user on the terminal itself, whatever stdin and stdout are."""

import contextlib
import os
from collections.abc import Generator
from functools import cached_property
from typing import TYPE_CHECKING

from marid.core.policy.approval import ApprovalAnswer, Question

if TYPE_CHECKING:
    import anyio

TTY = "/dev/tty"
_YES, _NO, _ALWAYS = ApprovalAnswer.YES, ApprovalAnswer.NO, ApprovalAnswer.ALWAYS
_ANSWERS = {"y": _YES, "yes": _YES, "n": _NO, "no": _NO, "": _NO}
_ALWAYS_ANSWERS = {"a": _ALWAYS, "always": _ALWAYS}
_TRIES = 3
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_ACTION_TEXTS = {
    "edit": "change files:",
    "command": "run a command:",
    "fetch": "use the network:",
    "spawn": "start another agent:",
    "outside": "touch a path outside of the project:",
    "call": "be called:",
}


def open_terminal_asker(path: str = TTY, *, colour: bool = False) -> "TerminalAsker | None":
    """An asker, if there is a terminal."""
    try:
        with _open_tty(path):
            return TerminalAsker(path, colour=colour)
    except OSError:
        return None


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
        """The user's answer; None if the terminal is gone."""
        async with self._lock:
            try:
                with _open_tty(self._path) as tty:
                    return await self._answer(tty, question)
            except OSError:
                return None

    async def _answer(self, tty: int, question: Question) -> ApprovalAnswer | None:
        title = f"{question.tool} wants to {_ACTION_TEXTS[question.kind.value]}"
        _write(tty, f"\n{_BOLD}{title}{_PLAIN}\n" if self._colour else f"\n{title}\n")
        _write(tty, f"{question.text.rstrip()}\n")
        offered = "y = yes, n = no, a = always" if question.always else "y = yes, n = no"
        known = {**_ANSWERS, **(_ALWAYS_ANSWERS if question.always else {})}
        for _ in range(_TRIES):
            _flush_input(tty)
            _write(tty, f"Allow it? [{offered}; Enter = no] ")
            try:
                typed = await _read_line(tty)
            except BaseException:
                # It was answered elsewhere, or the call was cancelled.
                _write(tty, "\n(no longer asked)\n")
                raise
            if typed is None:
                _write(tty, "\n")  # Ctrl-D; a terminal that is gone fails here
                return _NO
            if typed.strip().lower() in known:
                return known[typed.strip().lower()]
        return _NO


@contextlib.contextmanager
def _open_tty(path: str) -> Generator[int]:
    """The descriptor of the terminal, open while one question is asked."""
    tty = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        yield tty
    finally:
        os.close(tty)


def _write(tty: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(tty, data) :]


def _flush_input(tty: int) -> None:
    import termios

    with contextlib.suppress(termios.error):
        termios.tcflush(tty, termios.TCIFLUSH)


async def _read_line(tty: int) -> str | None:
    """A typed line, without blocking anything else; None at the end of input."""
    import anyio

    typed = b""
    while not typed.endswith(b"\n"):
        await anyio.wait_readable(tty)
        part = os.read(tty, 1000)
        if not part:
            return None
        typed += part
    return typed.decode("utf-8", "replace")
