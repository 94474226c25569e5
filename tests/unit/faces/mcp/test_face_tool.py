import os
import sys
from contextlib import redirect_stderr

import pytest

from marid.faces.mcp.face_tool import log_line


def test_a_line_of_the_log_goes_to_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    log_line("something")
    assert capsys.readouterr() == ("", "marid: something\n")


def test_a_closed_stderr_harms_nobody() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w", closefd=False) as stderr, redirect_stderr(stderr):
        log_line("nobody reads this")
        assert sys.stderr is stderr
        os.dup2(os.open(os.devnull, os.O_WRONLY), theirs)
    os.close(theirs)
