"""A child process and all that it starts, from the start until nothing of it is left."""

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping
from secrets import token_hex

from marid.adapters.process import descendants
from marid.adapters.sandbox.bubblewrap import LaunchSpec
from marid.core.errors import Unavailable

_KILL_TIMEOUT = 2.0
_MAX_REPORT = 1 << 16
_RECOUNT_STEP = 256


class ProcessTree:
    """One child. Inside the sandbox its descendants are those of a process namespace, else those with its mark.

    `threads` counts those of the whole machine.
    """

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        status: int | None,
        mark: str,
        threads: Callable[[], int] = descendants.machine_thread_count,
    ) -> None:
        self.child = child
        self._status = status
        self._mark = mark
        self._report: dict[str, int] = {}
        self._inner: int | None = None
        self._threads = threads
        self._baseline_threads = threads()

    def has_ended(self) -> bool:
        """Whether the child itself has; it is not waited for yet, so its number stays its own."""
        self._read_status()
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def has_reached_command(self) -> bool:
        """Whether the command itself was reached, once it has ended: bubblewrap says so by reporting its status."""
        self._read_status()
        return self._status is None or "exit-code" in self._report

    def has_more_than(self, limit: int) -> bool:
        """Whether there are more than `most` of them; looked at closely only when the whole machine has that many."""
        now = self._threads()
        if now < self._baseline_threads + limit:
            return False
        self._baseline_threads = now - limit + _RECOUNT_STEP
        return sum(map(descendants.thread_count, descendants.find_processes(self._membership_test()))) > limit

    def kill(self) -> int:
        """Kill what is left; gives the child's status."""
        self._read_status()
        with contextlib.suppress(ProcessLookupError, PermissionError):  # a group of nothing but the dead
            os.killpg(self.child.pid, signal.SIGKILL)
        if self._status is None:
            descendants.kill_processes(self._membership_test())
        elif self._inner is not None:
            # The first process of the namespace dies with bubblewrap and takes all others along before it is gone.
            select.select([self._inner], [], [], _KILL_TIMEOUT)
            os.close(self._inner)
            self._inner = None
        return self.child.wait()

    def _membership_test(self) -> Callable[[str], bool]:
        if self._status is None:
            return descendants.has_environment_mark(self._mark)
        return descendants.in_namespace(self._report.get("pid-namespace", 0))

    def _read_status(self) -> None:
        """Take in what bubblewrap has reported: one JSON object a line."""
        if self._status is None:
            return
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self._status, _MAX_REPORT).splitlines():
                self._report |= json.loads(line)
        if self._inner is None and "child-pid" in self._report:
            with contextlib.suppress(OSError):  # it has gone already
                self._inner = os.pidfd_open(self._report.pop("child-pid"))


@contextlib.contextmanager
def start_process_tree(
    launch: LaunchSpec,
    *,
    cwd: str,
    env: Mapping[str, str],
    threads: Callable[[], int] = descendants.machine_thread_count,
) -> Generator[ProcessTree]:
    """The child without input, in a session of its own; nothing of it is left at the end.

    Raises: Unavailable if it cannot be started.
    """
    mark = f"MARID_RUN_{token_hex(8)}"
    own = dict(env) if launch.status_fd is not None else {**env, mark: "1"}
    try:
        child = subprocess.Popen(
            launch.argv,
            cwd=cwd,
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=launch.fds,
            start_new_session=True,
        )
    except (OSError, ValueError) as cause:
        raise Unavailable(f"the command cannot be started: {cause}") from cause
    family = ProcessTree(child, launch.status_fd, mark, threads)
    with child:  # closes the pipes
        try:
            yield family
        finally:
            family.kill()
