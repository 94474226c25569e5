"""Every maker of outlines keeps the promises of `ports.outlines`."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from fakes.outlines import FakeOutlines, first_line
from marid.adapters.workers.pool import ProcessWorkers, WorkerLimits
from marid.adapters.workers.worker_outlines import WorkerOutlines
from marid.ports.outlines import Outlines


@pytest.fixture(params=["workers", "fake"], scope="module")
def outlines(request: pytest.FixtureRequest) -> Iterator[Outlines]:
    if request.param == "fake":
        yield FakeOutlines()
        return
    with closing(ProcessWorkers(limits=WorkerLimits(workers=2))) as workers:
        yield WorkerOutlines(workers, first_line)


def test_a_file_has_an_outline(outlines: Outlines) -> None:
    assert outlines.outline(b"def f():\n    pass\n", "python") == "def f():"


def test_a_language_without_outline_gives_none(outlines: Outlines) -> None:
    assert outlines.outline(b"text", "none") is None


def test_an_empty_file_gives_none(outlines: Outlines) -> None:
    assert outlines.outline(b"", "python") is None


def test_an_outline_may_be_empty(outlines: Outlines) -> None:
    assert outlines.outline(b"\n", "python") == ""


def test_text_of_all_languages_comes_back(outlines: Outlines) -> None:
    assert outlines.outline("déf 中文 😀\n".encode(), "python") == "déf 中文 😀"


def test_answers_come_in_the_order_of_the_questions(outlines: Outlines) -> None:
    items = [(b"%d\n" % number, "none" if number % 7 == 0 else "python") for number in range(50)]
    assert outlines.outlines(items) == [None if number % 7 == 0 else str(number) for number in range(50)]


def test_a_file_larger_than_a_pipe(outlines: Outlines) -> None:
    line = "x" * 1_000_000
    assert outlines.outlines([(f"{line}\n{line}".encode(), "python")] * 3) == [line] * 3


def test_no_files_no_outlines(outlines: Outlines) -> None:
    assert outlines.outlines([]) == []
