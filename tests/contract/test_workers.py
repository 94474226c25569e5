"""Everything that does the work of others keeps the promises of `ports.workers`, as far as harmless work goes."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from fakes.outlines import first_line, misbehave
from fakes.ports import InlineWorkers
from marid.adapters.workers.pool import ProcessWorkers, WorkerLimits
from marid.core.errors import BadInput
from marid.ports.workers import Workers


@pytest.fixture(params=["processes", "inline"], scope="module")
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    if request.param == "inline":
        yield InlineWorkers()
        return
    with closing(ProcessWorkers(limits=WorkerLimits(workers=2))) as real:
        yield real


def test_work_gives_its_value(workers: Workers) -> None:
    assert workers.run(first_line, b"a\nb", language="python") == "a"


def test_an_error_of_our_families_is_raised(workers: Workers) -> None:
    with pytest.raises(BadInput, match="line 3 is wrong"):
        workers.run(misbehave, b"refuse", "python")


def test_answers_come_in_the_order_of_the_calls(workers: Workers) -> None:
    calls = [(b"%d\n" % number, "none" if number % 7 == 0 else "python") for number in range(50)]
    expected = [None if number % 7 == 0 else str(number) for number in range(50)]
    assert workers.run_all(first_line, calls) == expected
    assert workers.run_all(first_line, calls, cost=[10_000] * 50) == expected


def test_one_failure_among_many_harms_no_other(workers: Workers) -> None:
    answers = workers.run_all(misbehave, [(b"a", "x"), (b"refuse", "x"), (b"b", "x")])
    assert (answers[0], answers[2]) == ("a", "b")
    assert isinstance(answers[1], BadInput)


def test_more_than_a_pipe_holds_comes_through(workers: Workers) -> None:
    line = "x" * 1_000_000
    assert workers.run_all(first_line, [(line.encode(), "python")] * 3) == [line] * 3


def test_no_calls_no_answers(workers: Workers) -> None:
    assert workers.run_all(first_line, []) == []
