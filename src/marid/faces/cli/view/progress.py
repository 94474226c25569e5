"""Progress of a context run on stderr: problems, and on a terminal a moving line if it takes long."""

import sys
import time

from marid.core.context import ContextReport
from marid.core.events import ContextEvent, Event, FileProblem, Notice, PackProgress, WalkProgress
from marid.faces.cli.view.console import count_text, print_note, write_stderr
from marid.text.display import human_size

_START_DELAY = 0.7
_REFRESH_INTERVAL = 0.1


class Progress:
    """Shows the events of a run."""

    def __init__(self, *, quiet: bool, delay: float = _START_DELAY) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and not quiet
        self._next_update = time.monotonic() + delay
        self._shown = False
        self.files = 0

    def __call__(self, event: Event[ContextEvent]) -> None:
        match event.what:
            case FileProblem(path=path, reason=reason):
                self.clear()
                print_note(f"skipped {path}: {reason}")
            case Notice(text=text):
                self.clear()
                print_note(text)
            case WalkProgress(files=files):
                self.files = files
                self._update_line(f"{files:,} files found")
            case PackProgress(files=files, bytes=size):
                self._update_line(f"{files:,} of {self.files:,} files, {human_size(size)}")

    def _update_line(self, line: str) -> None:
        now = time.monotonic()
        if self._terminal and now >= self._next_update:
            self._next_update = now + _REFRESH_INTERVAL
            self._shown = True
            write_stderr(f"\r\x1b[K{line}")

    def clear(self) -> None:
        """Remove the moving line."""
        if self._shown:
            write_stderr("\r\x1b[K")
            self._shown = False

    def finish(self, report: ContextReport) -> None:
        """Print a summary, on a terminal or if anything was skipped or masked."""
        self.clear()
        passed = _skipped_counts(report)
        if self._quiet or not (self._terminal or report.masked or passed):
            return
        tokens = "" if report.tokens is None else f", {'' if report.exact else '≈'}{report.tokens:,} tokens"
        line = f"{report.files:,} files, {human_size(report.bytes)}{tokens}"
        if passed:
            line += f"; skipped {', '.join(passed)}"
        if report.masked:
            line += f"; masked {count_text(report.masked, 'secret')} (--no-mask keeps them)"
        print_note(line)


def _skipped_counts(report: ContextReport) -> list[str]:
    counts = ((report.links, "symbolic link"), (report.special, "special file"))
    found = [count_text(number, name) for number, name in counts if number]
    return found + ([f"{report.problems:,} unreadable"] if report.problems else [])
