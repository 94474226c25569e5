"""Child processes on a short lead: an argv, a small environment, a time limit, a byte cap, and no survivors."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, cast

from marid.core.errors import Exhausted, Unavailable

CHUNK = 1 << 18
MOST_COMPLAINT = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a child may run and how much it may print."""

    seconds: float = 30.0
    output: int = 50_000_000


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a child left: its exit status (negative for a signal), its output, the first part of its complaints."""

    status: int
    out: bytes
    err: bytes

    def complaint(self) -> str:
        """The first line that is more than a warning, fit for a terminal."""
        lines = self.err.decode("utf-8", "replace").splitlines()
        serious = (line for line in lines if not line.startswith(("warning: ", "hint: ")))
        line = next(serious, f"exit status {self.status}").removeprefix("fatal: ")
        return "".join(character if character.isprintable() else "?" for character in line)


def searched(path: str) -> str:
    """The absolute folders of a PATH: with a relative one the folder that is looked at could bring its own programs."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))


def find(program: str, env: Mapping[str, str]) -> str | None:
    """Where the program is on the PATH of `env`."""
    return shutil.which(program, path=searched(env.get("PATH", "")))


def run(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], limits: Limits) -> Outcome:
    """Run to the end without input; the whole process group is killed when that does not come about.

    Raises:
        Unavailable: the program cannot be started or takes too long.
        Exhausted: it prints more than the limit.
    """
    deadline = time.monotonic() + limits.seconds
    with _started(argv, cwd, env, stdin=subprocess.DEVNULL, output=subprocess.PIPE) as child:
        out, err = _collect(child, argv[0], limits, deadline)
        try:
            status = child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as cause:
            raise _late(argv[0], limits.seconds) from cause
    return Outcome(status=status, out=out, err=err)


def feed(argv: Sequence[str], data: bytes, *, env: Mapping[str, str], seconds: float) -> int:
    """Give `data` to a program that may leave a child behind to serve it, and return its exit status.

    Nothing that it prints is read: a child left behind would keep such a pipe open for ever.

    Raises:
        Unavailable: the program cannot be started or takes too long.
    """
    with _started(argv, os.sep, env, stdin=subprocess.PIPE, output=subprocess.DEVNULL) as child:
        try:
            child.communicate(data, timeout=seconds)
        except subprocess.TimeoutExpired as cause:
            raise _late(argv[0], seconds) from cause
        return child.returncode


@contextlib.contextmanager
def _started(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], *, stdin: int, output: int
) -> Generator[subprocess.Popen[bytes]]:
    """The child in a session of its own: it has no terminal to prompt on, and its group is killed if we leave early."""
    try:
        child = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=stdin, stdout=output, stderr=output, start_new_session=True
        )
    except (OSError, ValueError) as cause:
        raise Unavailable(f"{os.path.basename(argv[0])} cannot be started: {cause}") from cause
    try:
        yield child
    finally:
        # Only a child that was not waited for is killed: its number cannot belong to anyone else yet.
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # a group of nothing but the dead
                os.killpg(child.pid, signal.SIGKILL)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        child.wait()


def _collect(child: subprocess.Popen[bytes], name: str, limits: Limits, deadline: float) -> tuple[bytes, bytes]:
    """Both outputs until both are closed; complaints beyond the first part are read and dropped."""
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(cast("IO[bytes]", child.stdout), selectors.EVENT_READ, out)
        waiting.register(cast("IO[bytes]", child.stderr), selectors.EVENT_READ, err)
        while waiting.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise _late(name, limits.seconds)
            for key, _ in waiting.select(left):
                data = os.read(key.fd, CHUNK)
                if not data:
                    waiting.unregister(key.fileobj)
                elif key.data is out or len(err) < MOST_COMPLAINT:
                    key.data.extend(data)
            if len(out) > limits.output:
                raise Exhausted(f"{os.path.basename(name)} printed more than {limits.output:,} bytes")
    return bytes(out), bytes(err)


def _late(name: str, seconds: float) -> Unavailable:
    return Unavailable(f"{os.path.basename(name)} took longer than {seconds:g} s")
