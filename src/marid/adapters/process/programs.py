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
MAX_STDERR = 1 << 16


@dataclass(frozen=True, kw_only=True)
class ProgramLimits:
    """How long a child may run and how much it may print."""

    timeout: float = 30.0
    max_output: int = 50_000_000


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """What a child left: its exit status (negative for a signal), its output, the first part of its complaints."""

    status: int
    out: bytes
    err: bytes

    def error_line(self) -> str:
        """The first line that is more than a warning, fit for a terminal."""
        lines = self.err.decode("utf-8", "replace").splitlines()
        serious = (line for line in lines if not line.startswith(("warning: ", "hint: ")))
        line = next(serious, f"exit status {self.status}").removeprefix("fatal: ")
        return "".join(character if character.isprintable() else "?" for character in line)


def absolute_search_path(path: str) -> str:
    """The absolute folders of a PATH: with a relative one the folder that is looked at could bring its own programs."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))


def find(program: str, env: Mapping[str, str]) -> str | None:
    """Where the program is on the PATH of `env`."""
    return shutil.which(program, path=absolute_search_path(env.get("PATH", "")))


def run(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], limits: ProgramLimits) -> ProgramResult:
    """Run to the end without input; the whole process group is killed when that does not come about.

    Raises:
        Unavailable: the program cannot be started or takes too long.
        Exhausted: it prints more than the limit.
    """
    deadline = time.monotonic() + limits.timeout
    with _child_process(argv, cwd, env, stdin=subprocess.DEVNULL, output=subprocess.PIPE) as child:
        out, err = _collect(child, argv[0], limits, deadline)
        try:
            status = child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as cause:
            raise _timeout_error(argv[0], limits.timeout) from cause
    return ProgramResult(status=status, out=out, err=err)


def feed(argv: Sequence[str], data: bytes, *, env: Mapping[str, str], timeout: float) -> int:
    """Give `data` to a program that may leave a child behind to serve it, and return its exit status.

    Nothing that it prints is read: a child left behind would keep such a pipe open for ever.

    Raises:
        Unavailable: the program cannot be started or takes too long.
    """
    with _child_process(argv, os.sep, env, stdin=subprocess.PIPE, output=subprocess.DEVNULL) as child:
        try:
            child.communicate(data, timeout=timeout)
        except subprocess.TimeoutExpired as cause:
            raise _timeout_error(argv[0], timeout) from cause
        return child.returncode


@contextlib.contextmanager
def _child_process(
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


def _collect(child: subprocess.Popen[bytes], name: str, limits: ProgramLimits, deadline: float) -> tuple[bytes, bytes]:
    """Both outputs until both are closed; complaints beyond the first part are read and dropped."""
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(cast("IO[bytes]", child.stdout), selectors.EVENT_READ, out)
        waiting.register(cast("IO[bytes]", child.stderr), selectors.EVENT_READ, err)
        while waiting.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise _timeout_error(name, limits.timeout)
            for key, _ in waiting.select(left):
                data = os.read(key.fd, CHUNK)
                if not data:
                    waiting.unregister(key.fileobj)
                elif key.data is out or len(err) < MAX_STDERR:
                    key.data.extend(data)
            if len(out) > limits.max_output:
                raise Exhausted(f"{os.path.basename(name)} printed more than {limits.max_output:,} bytes")
    return bytes(out), bytes(err)


def _timeout_error(name: str, timeout: float) -> Unavailable:
    return Unavailable(f"{os.path.basename(name)} took longer than {timeout:g} s")
