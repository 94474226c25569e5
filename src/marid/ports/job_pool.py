"""Several hands for one output."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias


class OutputPart(NamedTuple):
    """A piece of the output, and what its maker has to say about it, in bytes of the maker's own form."""

    buffers: list[bytes]
    notes: bytes = b""


OutputJob: TypeAlias = Callable[[], Iterable[OutputPart]]


class JobPool(Protocol):
    """Does jobs at the same time where it can. A job may run in another process: it changes nothing here."""

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        """The parts of all jobs, in the order of the jobs; only a bounded amount is made ahead of time.

        Raises: what a job raises here; Unavailable when a helper stops before its job is done.
        """
        ...
