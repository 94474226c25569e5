"""Forked helpers that go wrong."""

import os
from collections.abc import Iterator

import pytest

from marid.adapters.workers.fork_pool import ForkPool
from marid.core.errors import Unavailable
from marid.ports.job_pool import OutputJob, OutputPart


def _fine() -> Iterator[OutputPart]:
    yield OutputPart([b"fine"])


def _dies() -> Iterator[OutputPart]:
    yield OutputPart([b"half"])
    os._exit(9)


def _raises() -> Iterator[OutputPart]:
    yield OutputPart([b"half"])
    raise ValueError("broken")


@pytest.mark.parametrize("bad", [_dies, _raises])
def test_a_helper_that_stops_early_is_an_error(bad: OutputJob, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unavailable, match="helper process"):
        list(ForkPool(1).run_jobs([_fine, bad]))
    assert capfd.readouterr().out == ""


def test_what_goes_wrong_here_is_raised_here() -> None:
    with pytest.raises(ValueError, match="broken"):
        list(ForkPool(1).run_jobs([_raises, _fine]))


def test_a_helper_works_in_another_process() -> None:
    def mine() -> Iterator[OutputPart]:
        yield OutputPart([], str(os.getpid()).encode())

    pids = {part.notes for part in ForkPool(2).run_jobs([mine, mine, mine]) if part.notes}
    assert len(pids) == 3
    assert str(os.getpid()).encode() in pids
