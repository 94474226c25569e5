"""Forked helpers that go wrong."""

import os
from collections.abc import Iterator

import pytest

from marid.adapters.crew import ForkedCrew
from marid.core.errors import Unavailable
from marid.ports.crew import Job, Part


def _fine() -> Iterator[Part]:
    yield Part([b"fine"])


def _dies() -> Iterator[Part]:
    yield Part([b"half"])
    os._exit(9)


def _raises() -> Iterator[Part]:
    yield Part([b"half"])
    raise ValueError("broken")


@pytest.mark.parametrize("bad", [_dies, _raises])
def test_a_helper_that_stops_early_is_an_error(bad: Job, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unavailable, match="helper process"):
        list(ForkedCrew(1).make([_fine, bad]))
    assert capfd.readouterr().out == ""


def test_what_goes_wrong_here_is_raised_here() -> None:
    with pytest.raises(ValueError, match="broken"):
        list(ForkedCrew(1).make([_raises, _fine]))


def test_a_helper_works_in_another_process() -> None:
    def mine() -> Iterator[Part]:
        yield Part([], str(os.getpid()).encode())

    pids = {part.notes for part in ForkedCrew(2).make([mine, mine, mine]) if part.notes}
    assert len(pids) == 3
    assert str(os.getpid()).encode() in pids
