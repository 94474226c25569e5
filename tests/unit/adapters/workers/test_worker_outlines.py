"""A file that cannot be parsed has no outline; a machine that cannot parse says so."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from fakes.outlines import misbehave
from fakes.ports import InlineWorkers
from marid.adapters.workers.pool import ProcessWorkers, WorkerLimits
from marid.adapters.workers.worker_outlines import WorkerOutlines
from marid.core.errors import Unavailable

GOOD = (b"class A:\n", "python")


@pytest.fixture(scope="module")
def outlines() -> Iterator[WorkerOutlines]:
    with closing(ProcessWorkers(limits=WorkerLimits(timeout=20, max_memory=300 << 20, workers=2))) as workers:
        yield WorkerOutlines(workers, misbehave)


@pytest.mark.parametrize("mischief", [b"abort", b"exit", b"raise", b"refuse", b"recurse", b"allocate"])
def test_a_file_that_is_too_much_for_the_parser_has_no_outline_and_the_next_one_has(
    outlines: WorkerOutlines, mischief: bytes
) -> None:
    assert outlines.outlines([GOOD, (mischief, "python"), GOOD]) == ["class A:", None, "class A:"]


def test_an_outline_that_is_not_valid_text_is_made_valid(outlines: WorkerOutlines) -> None:
    assert outlines.outline(b"surrogate", "python") == "a?b"


def test_a_parser_that_cannot_be_started_is_no_fault_of_the_file() -> None:
    with pytest.raises(Unavailable):
        WorkerOutlines(InlineWorkers(), misbehave).outline(b"unavailable", "python")


def test_the_real_parser_is_the_default() -> None:
    source = b'def shout(text: str) -> str:\n    """Louder."""\n    return text.upper()\n'
    assert "def shout(text: str) -> str" in (WorkerOutlines(InlineWorkers()).outline(source, "python") or "")
