"""What every crew promises: all parts, in the order of their jobs."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fakes.ports import InlinePool
from marid.adapters.workers.fork_pool import ForkPool
from marid.ports.job_pool import JobPool, OutputJob, OutputPart


@pytest.fixture(params=["lone", "forked with none", "forked with one", "forked with three"])
def crew(request: pytest.FixtureRequest) -> JobPool:
    helpers = {"forked with none": 0, "forked with one": 1, "forked with three": 3}
    return ForkPool(helpers[request.param]) if request.param in helpers else InlinePool()


def _job(name: str, parts: int, size: int = 10) -> OutputJob:
    def made() -> Iterator[OutputPart]:
        for number in range(parts):
            text = f"{name}.{number};".encode()
            yield OutputPart([text, b"x" * size], text)

    return made


def _said(parts: list[OutputPart]) -> list[bytes]:
    return [part.notes for part in parts if part.notes]


def test_parts_come_in_the_order_of_their_jobs(crew: JobPool) -> None:
    parts = list(crew.run_jobs([_job(f"job{number}", 3) for number in range(10)]))
    assert _said(parts) == [f"job{job}.{part};".encode() for job in range(10) for part in range(3)]


def test_the_bytes_of_a_part_arrive_whole(crew: JobPool) -> None:
    parts = list(crew.run_jobs([_job(f"job{number}", 2, 3_000_000) for number in range(3)]))
    whole = b"".join(piece for part in parts for piece in part.buffers)
    expected = b"".join(f"job{job}.{part};".encode() + b"x" * 3_000_000 for job in range(3) for part in range(2))
    assert whole == expected


def test_a_job_may_make_nothing(crew: JobPool) -> None:
    parts = list(crew.run_jobs([_job("a", 0), _job("b", 1), _job("c", 0), _job("d", 1)]))
    assert _said(parts) == [b"b.0;", b"d.0;"]


def test_there_may_be_no_jobs(crew: JobPool) -> None:
    assert list(crew.run_jobs([])) == []


def _children() -> set[str]:
    """Those of this process, whichever test has started them."""
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(path.parent.name)
    return found


def test_one_who_stops_listening_leaves_nobody_behind(crew: JobPool) -> None:
    before = _children()
    made = crew.run_jobs([_job(f"job{number}", 50, 100_000) for number in range(8)])
    next(made)
    del made
    assert _children() <= before
