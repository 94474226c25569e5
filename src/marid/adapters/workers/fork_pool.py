"""Run jobs in this process and in forks of it; the pipes keep a fork from running far ahead."""

import contextlib
import os
import struct
from collections.abc import Iterator, Sequence

from marid.core.errors import Unavailable
from marid.ports.job_pool import OutputJob, OutputPart
from marid.workspace.plain_files import write_all

# Bytes of the buffers, bytes of the notes, and whether the job ends here.
_HEAD = struct.Struct("<QQ?")
_CHUNK = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux; elsewhere pipes stay as they are


class ForkPool:
    """Runs jobs here and in `helpers` forks. For one-shot commands only: forking a process with threads is not safe."""

    def __init__(self, helpers: int) -> None:
        self._helpers = helpers

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        turns = _schedule(min(self._helpers + 1, len(jobs)))
        runners = [turns[number % len(turns)] for number in range(len(jobs))]
        helpers: list[_Helper] = []
        try:
            for number in range(1, max(runners, default=0) + 1):
                assigned = [job for job, runner in zip(jobs, runners, strict=True) if runner == number]
                helpers.append(_Helper(assigned, helpers))
            for job, runner in zip(jobs, runners, strict=True):
                yield from job() if runner == 0 else helpers[runner - 1].read_job()
        finally:
            for helper in helpers:
                helper.close()
            for helper in helpers:
                helper.wait()


def _schedule(runners: int) -> list[int]:
    """Who runs the next jobs, in turn. This process, number 0, skips one turn in four: it also joins the output."""
    return [runner for turn in range(4) for runner in range(runners) if runner or turn < 3 or runners == 1]


class _Helper:
    """A fork that runs its jobs in order and sends their output."""

    def __init__(self, jobs: Sequence[OutputJob], others: "Sequence[_Helper]") -> None:
        self._from, to = os.pipe()
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.fcntl(to, _SET_PIPE_SIZE, _CHUNK)
        self._pid = os.fork()
        if self._pid == 0:
            # A fork inherits the other pipes: as long as one is open, its helper waits for a reader.
            for helper in (self, *others):
                helper.close()
            _run_child(jobs, to)
        os.close(to)

    def read_job(self) -> Iterator[OutputPart]:
        """The output of the next job."""
        last = False
        while not last:
            data, notes, last = _HEAD.unpack(b"".join(self._read(_HEAD.size)))
            yield OutputPart(list(self._read(data)), b"".join(self._read(notes)))

    def _read(self, size: int) -> Iterator[bytes]:
        while size:
            piece = os.read(self._from, min(size, _CHUNK))
            if not piece:
                raise Unavailable("a helper process stopped before its work was done")
            size -= len(piece)
            yield piece

    def close(self) -> None:
        """Close the pipe; a helper that still writes gets an error and ends."""
        os.close(self._from)

    def wait(self) -> None:
        """Wait until it has ended."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _run_child(jobs: Sequence[OutputJob], to: int) -> None:
    """Run the jobs in the fork, and never return into the code that forked it."""
    code = 1
    try:
        for job in jobs:
            for part in job():
                _write(to, part, last=False)
            _write(to, OutputPart([]), last=True)
        code = 0
    except BrokenPipeError:
        code = 0
    finally:
        os._exit(code)


def _write(to: int, part: OutputPart, *, last: bool) -> None:
    head = _HEAD.pack(sum(map(len, part.buffers)), len(part.notes), last)
    write_all(to, [head, *part.buffers, part.notes])
