from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr

import pytest

from fakes.terminal import Terminal, terminal
from marid.core.caller import Caller
from marid.core.context import ContextReport
from marid.core.events import ContextEvent, Event, FileProblem, Notice, PackProgress, WalkProgress
from marid.faces.cli.view.progress import Progress


@contextmanager
def on_a_terminal() -> Generator[Terminal]:
    with terminal() as screen, redirect_stderr(screen.file):
        yield screen


def hear(progress: Progress, *what: ContextEvent) -> None:
    for sequence, one in enumerate(what):
        progress(Event("s", sequence, Caller(face="test"), one))


def test_a_problem_is_told_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    hear(Progress(quiet=True), FileProblem(path="a", reason="no permission"), Notice(text="the copy may be old"))
    assert capsys.readouterr().err == "marid: skipped a: no permission\nmarid: the copy may be old\n"


def test_a_long_run_shows_where_it_is() -> None:
    with on_a_terminal() as screen:
        progress = Progress(quiet=False, delay=0.0)
        hear(progress, WalkProgress(files=1234))
        assert screen.text() == "\r\x1b[K1,234 files found"
        hear(progress, PackProgress(files=1, bytes=5))
        assert screen.text() == "", "not so soon after the last"
        progress.clear()
        assert screen.text() == "\r\x1b[K"
        progress.clear()
        assert screen.text() == ""


def test_files_are_counted_against_all() -> None:
    with on_a_terminal() as screen:
        progress = Progress(quiet=False)
        hear(progress, WalkProgress(files=2000))
        impatient = Progress(quiet=False, delay=0.0)
        impatient.files = progress.files
        hear(impatient, PackProgress(files=1000, bytes=1_500_000))
        assert screen.text() == "\r\x1b[K1,000 of 2,000 files, 1.5 MB"


def test_a_problem_takes_the_moving_line_away() -> None:
    with on_a_terminal() as screen:
        progress = Progress(quiet=False, delay=0.0)
        hear(progress, WalkProgress(files=1), FileProblem(path="a", reason="it vanished"))
        assert screen.text() == "\r\x1b[K1 files found\r\x1b[Kmarid: skipped a: it vanished\n"


def test_a_short_run_a_pipe_and_a_quiet_run_show_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with on_a_terminal() as screen:
        hear(Progress(quiet=False), WalkProgress(files=1))
        hear(Progress(quiet=True, delay=0.0), WalkProgress(files=1))
        assert screen.text() == ""
    hear(Progress(quiet=False, delay=0.0), WalkProgress(files=1))
    assert capsys.readouterr().err == ""


def test_the_end_is_told_on_a_terminal() -> None:
    with on_a_terminal() as screen:
        Progress(quiet=False).finish(ContextReport(files=3, bytes=2048, tokens=700))
        assert screen.text() == "marid: 3 files, 2.0 KB, 700 tokens\n"
        Progress(quiet=False).finish(ContextReport(files=3, bytes=2048, tokens=700, exact=False))
        assert screen.text() == "marid: 3 files, 2.0 KB, ≈700 tokens\n"
        Progress(quiet=True).finish(ContextReport(files=3, masked=1))
        assert screen.text() == ""


def test_in_a_pipe_the_end_is_told_only_if_something_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(quiet=False)
    progress.finish(ContextReport(files=3, bytes=9))
    assert capsys.readouterr().err == ""
    progress.finish(ContextReport(files=1, bytes=9, masked=1))
    assert capsys.readouterr().err == "marid: 1 files, 9 B; masked 1 secret (--no-mask keeps them)\n"
    progress.finish(ContextReport(files=3, bytes=9, masked=2, links=1, special=2, problems=1000))
    assert capsys.readouterr().err == (
        "marid: 3 files, 9 B; skipped 1 symbolic link, 2 special files, 1,000 unreadable; "
        "masked 2 secrets (--no-mask keeps them)\n"
    )
