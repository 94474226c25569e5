"""Jobs shared out between this process and forks of it, over pipes that let none of them run far ahead."""

import contextlib
import os
import struct
from collections.abc import Iterable, Iterator, Sequence

from marid.core.errors import Unavailable
from marid.ports.job_pool import OutputJob, OutputPart
from marid.workspace.write.atomic import write_all

# Bytes of the buffers, bytes of the notes, and whether the job ends here.
_HEAD = struct.Struct("<QQ?")
_CHUNK = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux; elsewhere pipes stay as they are


class ForkPool:
    """One hand here and `helpers` in forks. For one-shot commands only: a fork of a threaded process is not safe."""

    def __init__(self, helpers: int) -> None:
        self._helpers = helpers

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        """As in the port."""
        turns = _schedule(min(self._helpers + 1, len(jobs)))
        hands = [turns[number % len(turns)] for number in range(len(jobs))]
        helpers: list[_Helper] = []
        try:
            for helper in range(1, max(hands, default=0) + 1):
                own = [job for job, hand in zip(jobs, hands, strict=True) if hand == helper]
                helpers.append(_Helper(own, helpers))
            for job, hand in zip(jobs, hands, strict=True):
                yield from job() if hand == 0 else helpers[hand - 1].read_job()
        finally:
            for helper in helpers:
                helper.close()
            for helper in helpers:
                helper.wait()


def _schedule(hands: int) -> list[int]:
    """Whose turn it is. Ours, number 0, is left out once in four: we also put everything together."""
    return [hand for turn in range(4) for hand in range(hands) if hand or turn < 3 or hands == 1]


class _Helper:
    """A fork that does its jobs in order and sends what they make."""

    def __init__(self, jobs: Sequence[OutputJob], others: "Sequence[_Helper]") -> None:
        self._from, to = os.pipe()
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.fcntl(to, _SET_PIPE_SIZE, _CHUNK)
        self._pid = os.fork()
        if self._pid == 0:
            # A fork has the others' pipes too, and whoever holds one keeps its helper waiting for a reader.
            for helper in (self, *others):
                helper.close()
            _run_child(jobs, to)
        os.close(to)

    def read_job(self) -> Iterator[OutputPart]:
        """What the next job made."""
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
        """Let it go, done or not: a helper that still sends finds nobody to read."""
        os.close(self._from)

    def wait(self) -> None:
        """Until it has ended."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _run_child(jobs: Sequence[OutputJob], to: int) -> None:
    """The life of a fork. It must never return into the code that forked it."""
    code = 1
    try:
        for job in jobs:
            _send(job(), to)
        code = 0
    except BrokenPipeError:
        code = 0
    finally:
        os._exit(code)


def _send(parts: Iterable[OutputPart], to: int) -> None:
    for part in parts:
        _write(to, part, last=False)
    _write(to, OutputPart([]), last=True)


def _write(to: int, part: OutputPart, *, last: bool) -> None:
    head = _HEAD.pack(sum(map(len, part.buffers)), len(part.notes), last)
    write_all(to, [head, *part.buffers, part.notes])
