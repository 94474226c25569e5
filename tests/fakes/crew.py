"""A pool without processes: jobs run here, one after the other."""

from collections.abc import Iterator, Sequence

from marid.ports.job_pool import OutputJob, OutputPart


class LoneCrew:
    """The port of job pools. `jobs` counts the jobs."""

    def __init__(self) -> None:
        self.jobs = 0

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        self.jobs += len(jobs)
        for job in jobs:
            yield from job()
