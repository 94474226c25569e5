"""What happens during a run, on stderr: problems as they come, and a moving line on a terminal when it takes long."""

import sys
import time

from marid.core.context import Report
from marid.core.events import Event, Note, Packed, Problem, Walked
from marid.faces.cli.exits import say, show
from marid.text.lines import human_size

_PATIENCE = 0.7
_PAUSE = 0.1


class Progress:
    """Listens to a run."""

    def __init__(self, *, quiet: bool, patience: float = _PATIENCE) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and not quiet
        self._next = time.monotonic() + patience
        self._shown = False
        self.files = 0

    def __call__(self, event: Event) -> None:
        """Hear one event."""
        match event.what:
            case Problem(path=path, reason=reason):
                self.clear()
                say(f"skipped '{path}': {reason}")
            case Note(text=text):
                self.clear()
                say(text)
            case Walked(files=files):
                self.files = files
                self._move(f"{files:,} files found")
            case Packed(files=files, bytes=size):
                self._move(f"{files:,} of {self.files:,} files, {human_size(size)}")

    def _move(self, line: str) -> None:
        now = time.monotonic()
        if self._terminal and now >= self._next:
            self._next = now + _PAUSE
            self._shown = True
            show(f"\r\x1b[K{line}")

    def clear(self) -> None:
        """Take the moving line away."""
        if self._shown:
            show("\r\x1b[K")
            self._shown = False

    def finish(self, report: Report) -> None:
        """Say what came of it, if there is anything to say or somebody to read it."""
        self.clear()
        passed = _passed_over(report)
        if self._quiet or not (self._terminal or report.masked or passed):
            return
        tokens = "" if report.tokens is None else f", {'' if report.exact else '≈'}{report.tokens:,} tokens"
        line = f"{report.files:,} files, {human_size(report.bytes)}{tokens}"
        if passed:
            line += f"; skipped {', '.join(passed)}"
        if report.masked:
            line += f"; masked {_count(report.masked, 'secret')} (--no-mask keeps them)"
        say(line)


def _passed_over(report: Report) -> list[str]:
    counts = ((report.links, "symbolic link"), (report.special, "special file"))
    found = [_count(number, name) for number, name in counts if number]
    return found + ([f"{report.problems:,} unreadable"] if report.problems else [])


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"
