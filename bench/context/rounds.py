"""Run every job once, then every job again, so that other load on the machine affects all of them."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from bench.context.bars import Bar, Results, Status
from bench.context.measure import Job, Series, run
from bench.context.verify import verify_apart


class Rounds:
    """Runs jobs and keeps the results."""

    def __init__(self, jobs: Sequence[Job], environment: Mapping[str, str], scratch: str) -> None:
        self._jobs = {job.name: job for job in jobs}
        self._environment = environment
        self._errors = os.path.join(scratch, "stderr")
        self.results = Results(series={job.name: Series() for job in jobs})

    def warm_up(self) -> None:
        """Run each job once, untimed."""
        for job in self._jobs.values():
            if job.warm_up:
                self._say(f"warming up: {job.name}")
                self._run(job, timed=False)

    def play(self, rounds: int) -> None:
        """Run the rounds; a job that has had its own number of rounds or has failed is left out."""
        for number in range(rounds):
            for job in self._jobs.values():
                if number < job.rounds:
                    self._say(f"round {number + 1} of {rounds}: {job.name}")
                    self._repeat(job)

    def insist(self, bars: Sequence[Bar], rounds: int) -> None:
        """Run more rounds for limits that do not hold yet: noise only makes a run slower."""
        for number in range(rounds):
            failing = [bar for bar in bars if bar.judge(self.results).status is Status.FAIL]
            names = dict.fromkeys(name for bar in failing for name in bar.jobs if self._jobs[name].group != "peer")
            for name in names:
                self._say(f"extra round {number + 1} of at most {rounds}: {name}")
                self._repeat(self._jobs[name])

    def verified(self) -> list[str]:
        """The jobs of ours whose output has a form that can be verified."""
        return [job.name for job in self._jobs.values() if job.group == "marid" and job.form]

    def _repeat(self, job: Job) -> None:
        for _ in range(job.repeat):
            self._run(job)

    def _run(self, job: Job, *, timed: bool = True) -> None:
        """Verify the first output of a job; keep none, since it may be in memory."""
        series = self.results.series[job.name]
        if series.failure:
            return
        series.add(run(job, self._environment, self._errors), timed=timed)
        if job.form and job.name not in self.results.findings and not series.failure:
            self.results.findings[job.name] = verify_apart(job.form, job.root, job.output)
        if job.output:
            with suppress(FileNotFoundError):
                os.unlink(job.output)

    def _say(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
