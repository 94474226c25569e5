"""Port to a pool that makes one output in parallel."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias


class OutputPart(NamedTuple):
    """A piece of the output, and notes about it in the job's own encoding."""

    buffers: list[bytes]
    notes: bytes = b""


OutputJob: TypeAlias = Callable[[], Iterable[OutputPart]]


class JobPool(Protocol):
    """Runs jobs in parallel if it can. A job may run in another process, so it changes nothing in this one."""

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        """The parts of all jobs in the order of the jobs; only a bounded amount is made ahead.

        Raises: what a job raises; Unavailable if a process stops before its job is done.
        """
        ...
