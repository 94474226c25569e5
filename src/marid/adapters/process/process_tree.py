"""A child process and its descendants, found through /proc; none of them outlives the context manager."""

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from secrets import token_hex

from marid.adapters.sandbox.bubblewrap import LaunchSpec
from marid.core.errors import Unavailable

_KILL_TIMEOUT = 2.0
_MAX_REPORT = 1 << 16
_MAX_ENVIRONMENT = 1 << 18
_RECOUNT_STEP = 256


def has_environment_mark(mark: str, pid: str) -> bool:
    """Whether a process inherited the variable `mark`, which survives a new session, group or parent."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        return any(entry.startswith(f"{mark}=".encode()) for entry in file.read(_MAX_ENVIRONMENT).split(b"\0"))


def in_namespace(inode: int, pid: str) -> bool:
    """Whether a process is in the process namespace with this inode number."""
    return os.stat(f"/proc/{pid}/ns/pid").st_ino == inode


def find_processes(belongs: Callable[[str], bool], proc: str = "/proc") -> Iterator[int]:
    """The processes that pass the test, without those that have exited or may not be inspected."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(proc):
            if name.isdecimal():
                with contextlib.suppress(OSError):
                    if belongs(name):
                        yield int(name)


def kill_processes(belongs: Callable[[str], bool], rounds: int = 20) -> None:
    """Kill the processes that pass the test until none is left: one may fork while the others are killed."""
    for _ in range(rounds):
        found = [pid for pid in find_processes(belongs) if pid != os.getpid()]
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def thread_count(pid: int) -> int:
    """How many threads a process has; 0 if it has exited."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 0


def machine_thread_count(loadavg: str = "/proc/loadavg") -> int:
    """How many threads the machine has, which is cheap to read; 0 if unknown."""
    try:
        with open(loadavg, "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0


class ProcessTree:
    """One child. In the sandbox its descendants are those of a process namespace, else those with its mark.

    `status_fd` is where bubblewrap reports, None without a sandbox.
    """

    def __init__(
        self, child: subprocess.Popen[bytes], status_fd: int | None, mark: str, machine_threads: Callable[[], int]
    ) -> None:
        self.child = child
        self._status_fd = status_fd
        self._mark = mark
        self._report: dict[str, int] = {}
        self._inner: int | None = None
        self._machine_threads = machine_threads
        self._baseline_threads = machine_threads()

    def has_ended(self) -> bool:
        """Whether the child has exited. It is not reaped yet, so its pid is not reused."""
        self._read_report()
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def has_reached_command(self) -> bool:
        """Whether the command itself was run, once the child has exited: bubblewrap then reports its status."""
        self._read_report()
        return self._status_fd is None or "exit-code" in self._report

    def has_more_than(self, limit: int) -> bool:
        """Whether the tree has more than `limit` threads; counted only when the machine has gained that many."""
        now = self._machine_threads()
        if now < self._baseline_threads + limit:
            return False
        self._baseline_threads = now - limit + _RECOUNT_STEP
        return sum(map(thread_count, find_processes(self._membership_test()))) > limit

    def kill(self) -> int:
        """Kill the whole tree and return the child's status."""
        self._read_report()
        with contextlib.suppress(ProcessLookupError, PermissionError):  # only zombies are left in the group
            os.killpg(self.child.pid, signal.SIGKILL)
        if self._status_fd is None:
            kill_processes(self._membership_test())
        elif self._inner is not None:
            # The first process of the namespace dies with bubblewrap and takes all others along before it is gone.
            select.select([self._inner], [], [], _KILL_TIMEOUT)
            os.close(self._inner)
            self._inner = None
        return self.child.wait()

    def _membership_test(self) -> Callable[[str], bool]:
        if self._status_fd is None:
            return partial(has_environment_mark, self._mark)
        return partial(in_namespace, self._report.get("pid-namespace", 0))

    def _read_report(self) -> None:
        """Read what bubblewrap has reported so far: one JSON object a line."""
        if self._status_fd is None:
            return
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self._status_fd, _MAX_REPORT).splitlines():
                self._report |= json.loads(line)
        if self._inner is None and "child-pid" in self._report:
            with contextlib.suppress(OSError):  # it has already exited
                self._inner = os.pidfd_open(self._report.pop("child-pid"))


@contextlib.contextmanager
def start_process_tree(
    launch: LaunchSpec, *, cwd: str, env: Mapping[str, str], machine_threads: Callable[[], int] = machine_thread_count
) -> Generator[ProcessTree]:
    """Start the child without input in a new session; kill the whole tree at the end. Raises: Unavailable."""
    mark = f"MARID_RUN_{token_hex(8)}"
    try:
        child = subprocess.Popen(
            launch.argv,
            cwd=cwd,
            env=env if launch.status_fd is not None else {**env, mark: "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=launch.fds,
            start_new_session=True,
        )
    except (OSError, ValueError) as cause:
        raise Unavailable(f"the command cannot be started: {cause}") from cause
    tree = ProcessTree(child, launch.status_fd, mark, machine_threads)
    with child:  # closes the pipes
        try:
            yield tree
        finally:
            tree.kill()
