"""A crew of one: the jobs are done here, one after the other."""

from collections.abc import Iterator, Sequence

from marid.ports.job_pool import OutputJob, OutputPart


class LoneCrew:
    """Keeps the order of the jobs and how many it was given."""

    def __init__(self) -> None:
        self.jobs = 0

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        """As in the port."""
        self.jobs += len(jobs)
        for job in jobs:
            yield from job()
