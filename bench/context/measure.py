"""Run one command and measure it: wall time, CPU time, peak memory."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resource import struct_rusage

MAXRSS_IN_MB = 1 << 20 if sys.platform == "darwin" else 1 << 10


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command, and how to run it."""

    name: str
    argv: tuple[str, ...]
    tree: str
    root: str  # the tree's top
    folder: str  # the working directory
    group: str = "marid"  # or "floor", "peer"
    output: str = ""  # the file it writes
    redirect: bool = False  # its standard output goes to that file
    form: str = ""  # how the output is verified
    floor: str = ""  # the job it is compared with
    home: str = ""  # MARID_HOME
    fresh_home: bool = False  # emptied before every run
    rounds: int = 99  # at most
    repeat: int = 1  # times a round
    warm_up: bool = True  # the first run does not count
    refusal: int = 0  # an exit code that is expected
    timeout: int = 60
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One run; `failure` says why it does not count."""

    wall: float
    cpu: float
    peak_mb: float
    failure: str = ""
    refused: bool = False


@dataclass(kw_only=True)
class Series:
    """The runs of one job: the fastest counts, and the largest peak."""

    samples: list[Sample] = field(default_factory=list[Sample])
    peak_mb: float = 0.0
    failure: str = ""

    def add(self, sample: Sample, *, timed: bool = True) -> None:
        """Of a run that only warms up (not `timed`), memory and failure count."""
        self.failure = self.failure or sample.failure
        self.peak_mb = max(self.peak_mb, sample.peak_mb)
        if timed:
            self.samples.append(sample)

    @property
    def measured(self) -> bool:
        return bool(self.samples) and not self.failure

    @property
    def refused(self) -> bool:
        return any(sample.refused for sample in self.samples)

    @property
    def wall(self) -> float:
        return min(sample.wall for sample in self.samples)

    @property
    def cpu(self) -> float:
        return min(sample.cpu for sample in self.samples)


def run(job: Job, environment: Mapping[str, str], errors: str) -> Sample:
    """Run it; its standard error is kept in the file `errors`."""
    if job.fresh_home:
        shutil.rmtree(job.home, ignore_errors=True)
    env = {**environment, "MARID_HOME": job.home} if job.home else environment
    before = os.getcwd()
    os.chdir(job.folder)  # posix_spawn cannot, and its caller has no threads
    try:
        start = time.perf_counter()
        pid = spawn(job.argv, env, errors, output=job.output if job.redirect else os.devnull)
    finally:
        os.chdir(before)
    status, usage = _wait(pid, job.timeout)
    wall = time.perf_counter() - start
    return Sample(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / MAXRSS_IN_MB,
        failure=_failure(status, job.timeout, errors) if status not in (0, job.refusal) else "",
        refused=bool(status),
    )


def spawn(argv: tuple[str, ...], environment: Mapping[str, str], errors: str, output: str = os.devnull) -> int:
    """Start a program without input in a new process group; returns its pid."""
    mode = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, mode, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, errors, mode, 0o600),
    ]
    return os.posix_spawn(argv[0], argv, environment, file_actions=actions, setpgroup=0)


def _wait(pid: int, timeout: int) -> "tuple[int, struct_rusage]":
    """Wait for the process and kill its group at the timeout."""
    signal.signal(signal.SIGALRM, lambda _signal, _frame: os.killpg(pid, signal.SIGKILL))
    signal.alarm(timeout)
    try:
        _, status, usage = os.wait4(pid, 0)
    except KeyboardInterrupt:
        os.killpg(pid, signal.SIGKILL)  # it is in another group and did not get Ctrl-C
        raise
    finally:
        signal.alarm(0)
    return os.waitstatus_to_exitcode(status), usage


def _failure(code: int, timeout: int, errors: str) -> str:
    if code == -signal.SIGKILL:
        return f"killed (after {timeout} s or for want of memory)"
    return f"exit {code}: {last_lines(errors)}"


def last_lines(errors: str) -> str:
    """The last two lines that a program wrote to standard error."""
    with open(errors, encoding="utf-8", errors="replace") as file:
        lines = file.read().strip().splitlines()
    return " ".join(lines[-2:])[-200:] or "no message"
