"""Asking a person on the terminal itself, whatever stdin and stdout are."""

import contextlib
import os
from types import TracebackType

from marid.core.approval import Answer, Question

TTY = "/dev/tty"
_ANSWERS = {"y": Answer.YES, "yes": Answer.YES, "n": Answer.NO, "no": Answer.NO, "": Answer.NO}
_ALWAYS = {"a": Answer.ALWAYS, "always": Answer.ALWAYS}
_TRIES = 3
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def terminal_asker(path: str = TTY, *, colour: bool = False) -> "Terminal | None":
    """Somebody to ask, if there is a terminal."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return None
    return Terminal(path, colour=colour)


class Terminal:
    """Asks one question at a time. Enter alone is no; what was typed before the question was shown does not count."""

    def __init__(self, path: str, *, colour: bool) -> None:
        import anyio

        self._path = path
        self._colour = colour
        self._turn = anyio.Lock()

    async def ask(self, question: Question) -> Answer | None:
        """What the person says; None when the terminal has gone."""
        async with self._turn:
            try:
                with _Opened(self._path) as tty:
                    return await self._answer(tty, question)
            except OSError:
                return None

    async def _answer(self, tty: "_Opened", question: Question) -> Answer | None:
        title = f"{question.tool} wants to {_WISHES[question.kind.value]}"
        tty.write(f"\n{_BOLD}{title}{_PLAIN}\n" if self._colour else f"\n{title}\n")
        tty.write(f"{question.text.rstrip()}\n")
        offered = "y = yes, n = no, a = always" if question.always else "y = yes, n = no"
        known = {**_ANSWERS, **(_ALWAYS if question.always else {})}
        for _ in range(_TRIES):
            tty.forget_what_was_typed()
            tty.write(f"Allow it? [{offered}; Enter = no] ")
            try:
                said = await tty.line()
            except BaseException:
                # Somebody else has answered, or the call was cancelled.
                tty.write("\n(no longer asked)\n")
                raise
            if said is None:
                tty.write("\n")  # Ctrl-D on a terminal that is there; one that has gone fails here
                return Answer.NO
            if said.strip().lower() in known:
                return known[said.strip().lower()]
        return Answer.NO


_WISHES = {
    "edit": "change files:",
    "command": "run a command:",
    "fetch": "use the network:",
    "spawn": "start another agent:",
    "outside": "touch a path outside of the project:",
    "call": "be called:",
}


class _Opened:
    """The terminal, open while one question is asked."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)

    def __enter__(self) -> "_Opened":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._fd, data) :]

    def forget_what_was_typed(self) -> None:
        import termios

        with contextlib.suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)

    async def line(self) -> str | None:
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
