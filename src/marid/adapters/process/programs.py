"""Run a helper program with a time limit and an output limit; its process group does not outlive the call."""

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
NO_INPUT = subprocess.DEVNULL
PROJECT_MARKS = (".git", ".hg", "pyvenv.cfg")
NOBODYS_PROJECTS = (os.sep, "/opt/homebrew")  # Homebrew is a checkout


@dataclass(frozen=True, kw_only=True)
class ProgramLimits:
    """Seconds and bytes of standard output."""

    timeout: float = 30.0
    max_output: int = 50_000_000


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """`status` is negative for a signal; `err` is the first part of standard error."""

    status: int
    out: bytes
    err: bytes

    def error_line(self) -> str:
        """The first line that is not a warning, safe to print on a terminal."""
        lines = self.err.decode("utf-8", "replace").splitlines()
        serious = (line for line in lines if not line.startswith(("warning: ", "hint: ")))
        line = next(serious, f"exit status {self.status}").removeprefix("fatal: ")
        return "".join(character if character.isprintable() else "?" for character in line)


def trusted_environment(env: Mapping[str, str], roots: Sequence[str] = ()) -> dict[str, str]:
    """The environment with the folders of its PATH from which programs may be started outside of the sandbox.

    Left out are relative folders and what a command in the sandbox could have written: the roots, and checkouts and
    virtual environments, which may have been roots of another run.
    """
    avoided = frozenset(map(os.path.realpath, roots))
    folders = (os.path.realpath(part) for part in env.get("PATH", "").split(os.pathsep) if os.path.isabs(part))
    return {**env, "PATH": os.pathsep.join(part for part in dict.fromkeys(folders) if not _is_writable(part, avoided))}


def find(program: str, env: Mapping[str, str], roots: Sequence[str] = ()) -> str | None:
    """The program's path on the trusted PATH of `env`; one that is a link to an untrusted place is skipped."""
    avoided = frozenset(map(os.path.realpath, roots))
    for folder in trusted_environment(env, roots)["PATH"].split(os.pathsep):
        path = shutil.which(program, path=folder) if folder else None
        if path and not _is_writable(os.path.realpath(path), avoided):
            return path
    return None


def _is_writable(path: str, roots: frozenset[str]) -> bool:
    """Whether a command in the sandbox could write the path, now or in another run."""
    while path not in NOBODYS_PROJECTS:
        if path in roots or any(os.path.lexists(os.path.join(path, mark)) for mark in PROJECT_MARKS):
            return True
        path = os.path.dirname(path)
    return False


def run(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], limits: ProgramLimits, stdin: int = NO_INPUT
) -> ProgramResult:
    """Run to the end, or kill the group; `stdin` is a file. Raises: Unavailable; Exhausted if it prints too much."""
    deadline = time.monotonic() + limits.timeout
    with _child_process(argv, cwd, env, stdin=stdin, output=subprocess.PIPE) as child:
        out, err = _collect(child, argv[0], limits, deadline)
        try:
            status = child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as cause:
            raise _timeout_error(argv[0], limits.timeout) from cause
    return ProgramResult(status=status, out=out, err=err)


def feed(argv: Sequence[str], data: bytes, *, env: Mapping[str, str], timeout: float) -> int:
    """Write `data` to a program and return its exit status. Raises: Unavailable.

    The output is not read: the program may leave a child behind that serves the data and keeps the pipe open.
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
    """The child in a new session: it has no terminal to prompt on, and its group is killed if we leave early."""
    try:
        child = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=stdin, stdout=output, stderr=output, start_new_session=True
        )
    except (OSError, ValueError) as cause:
        raise Unavailable(f"{os.path.basename(argv[0])} cannot be started: {cause}") from cause
    try:
        yield child
    finally:
        if child.returncode is None:  # not reaped yet, so the pid is still the child's
            with contextlib.suppress(ProcessLookupError, PermissionError):  # only zombies are left in the group
                os.killpg(child.pid, signal.SIGKILL)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        child.wait()


def _collect(child: subprocess.Popen[bytes], name: str, limits: ProgramLimits, deadline: float) -> tuple[bytes, bytes]:
    """Read both streams until both are closed; keep only the first part of standard error."""
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(cast("IO[bytes]", child.stdout), selectors.EVENT_READ, out)
        selector.register(cast("IO[bytes]", child.stderr), selectors.EVENT_READ, err)
        while selector.get_map():
            if (left := deadline - time.monotonic()) <= 0:
                raise _timeout_error(name, limits.timeout)
            for key, _ in selector.select(left):
                data = os.read(key.fd, CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data is out or len(err) < MAX_STDERR:
                    key.data.extend(data)
            if len(out) > limits.max_output:
                raise Exhausted(f"{os.path.basename(name)} printed more than {limits.max_output:,} bytes")
    return bytes(out), bytes(err)


def _timeout_error(name: str, timeout: float) -> Unavailable:
    return Unavailable(f"{os.path.basename(name)} took longer than {timeout:g} s")
