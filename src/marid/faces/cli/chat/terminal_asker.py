"""Ask the user on the terminal itself, whatever stdin and stdout are."""

import contextlib
import os
from collections.abc import Generator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from marid.core.policy.approval import ApprovalAnswer, Decline, Question

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
    """Asks one question at a time, without a time limit, and offers yes only after the end of the text was shown.

    Enter alone is no; what was typed before the question was shown does not count.
    """

    pages: Literal[True] = True

    def __init__(self, path: str, *, colour: bool) -> None:
        self._path = path
        self._colour = colour

    @cached_property
    def _lock(self) -> "anyio.Lock":
        import anyio  # imported when used: most calls ask nothing

        return anyio.Lock()

    async def ask(self, question: Question) -> ApprovalAnswer | Decline | None:
        """The user's answer; None if the terminal is gone."""
        async with self._lock:
            try:
                with _open_tty(self._path) as tty:
                    return await self._answer(tty, question)
            except OSError:
                return None

    async def _answer(self, tty: int, question: Question) -> ApprovalAnswer | Decline:
        title = f"{question.tool} wants to {_ACTION_TEXTS[question.kind.value]}"
        _write(tty, f"\n{_BOLD}{title}{_PLAIN}\n" if self._colour else f"\n{title}\n")
        if (early := await _page(tty, question.text)) is not None:
            return early
        if question.always:
            _write(tty, f"(always: {question.covers})\n")
        always = ", a = always" if question.always else ""
        known = {**_ANSWERS, **(_ALWAYS_ANSWERS if question.always else {})}
        for _ in range(_TRIES):
            typed = await _prompt(tty, f"Allow it? [y = yes{always}, n = no, n REASON = no, and why; Enter = no] ")
            if typed is None:
                return _NO
            if (answer := known.get(typed) or _parse_reason(typed)) is not None:
                return answer
        return _NO


async def _page(tty: int, text: str) -> ApprovalAnswer | Decline | None:
    """Show the text to its end, a screen at a time; the answer of a person who declined before that."""
    columns, rows = _screen_size(tty)
    lines = [part for line in text.rstrip().split("\n") for part in _fold(line, columns)]
    shown, step = 0, max(rows - 3, 5)
    while True:
        _write(tty, "".join(f"{line}\n" for line in lines[shown : shown + step]))
        shown += step
        if shown >= len(lines):
            return None
        rest = len(lines) - shown
        typed = await _prompt(tty, f"-- {rest:,} more lines [Enter = next page, e = show all, n = no] ")
        if typed in (None, "n", "no"):
            return _NO
        if (declined := _parse_reason(typed or "")) is not None:
            return declined
        step = rest if typed in ("e", "end") else step


async def _prompt(tty: int, text: str) -> str | None:
    """The line that is typed after the text was shown; None at the end of input."""
    _flush_input(tty)
    _write(tty, text)
    try:
        typed = await _read_line(tty)
    except BaseException:
        _write(tty, "\n(answered elsewhere, or cancelled)\n")
        raise
    if typed is None:
        _write(tty, "\n")  # Ctrl-D; a terminal that is gone fails here
        return None
    word, space, rest = typed.strip().partition(" ")
    return f"{word.lower()}{space}{rest}"


def _parse_reason(typed: str) -> Decline | None:
    """The reason after a no."""
    word, _, reason = typed.partition(" ")
    return Decline(reason.strip()) if _ANSWERS.get(word.rstrip(",:")) is _NO and reason.strip() else None


def _screen_size(tty: int) -> tuple[int, int]:
    try:
        columns, rows = os.get_terminal_size(tty)
    except OSError:
        columns = rows = 0
    return columns or 80, rows or 24


def _fold(line: str, columns: int) -> list[str]:
    """The line as the terminal breaks it, so that no page is longer than the screen."""
    # A character may take two columns.
    width = columns if line.isascii() else max(columns // 2, 1)
    return [line[at : at + width] for at in range(0, len(line), width)] or [""]


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
