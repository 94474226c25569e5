"""A child process and all that it starts, from the start until nothing of it is left."""

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping
from secrets import token_hex

from marid.adapters import descendants
from marid.adapters.sandbox import Launch
from marid.core.errors import Unavailable

_SLOWEST_DEATH = 2.0
_MOST_REPORT = 1 << 16
_CROWD_STEP = 256


class Family:
    """One child. Inside the sandbox its descendants are those of a process namespace, else those with its mark.

    `threads` counts those of the whole machine.
    """

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        status: int | None,
        mark: str,
        threads: Callable[[], int] = descendants.threads,
    ) -> None:
        self.child = child
        self._status = status
        self._mark = mark
        self._report: dict[str, int] = {}
        self._inner: int | None = None
        self._threads = threads
        self._usual = threads()

    def has_ended(self) -> bool:
        """Whether the child itself has; it is not waited for yet, so its number stays its own."""
        self._listen()
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def was_set_up(self) -> bool:
        """Whether the command itself was reached, once it has ended: bubblewrap says so by reporting its status."""
        self._listen()
        return self._status is None or "exit-code" in self._report

    def is_crowd(self, most: int) -> bool:
        """Whether there are more than `most` of them; looked at closely only when the whole machine has that many."""
        now = self._threads()
        if now < self._usual + most:
            return False
        self._usual = now - most + _CROWD_STEP
        return sum(map(descendants.threads_of, descendants.members(self._belongs()))) > most

    def end(self) -> int:
        """Kill what is left; gives the child's status."""
        self._listen()
        with contextlib.suppress(ProcessLookupError, PermissionError):  # a group of nothing but the dead
            os.killpg(self.child.pid, signal.SIGKILL)
        if self._status is None:
            descendants.kill(self._belongs())
        elif self._inner is not None:
            # The first process of the namespace dies with bubblewrap and takes all others along before it is gone.
            select.select([self._inner], [], [], _SLOWEST_DEATH)
            os.close(self._inner)
            self._inner = None
        return self.child.wait()

    def _belongs(self) -> Callable[[str], bool]:
        if self._status is None:
            return descendants.marked(self._mark)
        return descendants.in_namespace(self._report.get("pid-namespace", 0))

    def _listen(self) -> None:
        """Take in what bubblewrap has reported: one JSON object a line."""
        if self._status is None:
            return
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self._status, _MOST_REPORT).splitlines():
                self._report |= json.loads(line)
        if self._inner is None and "child-pid" in self._report:
            with contextlib.suppress(OSError):  # it has gone already
                self._inner = os.pidfd_open(self._report.pop("child-pid"))


@contextlib.contextmanager
def started(
    launch: Launch, *, cwd: str, env: Mapping[str, str], threads: Callable[[], int] = descendants.threads
) -> Generator[Family]:
    """The child without input, in a session of its own; nothing of it is left at the end.

    Raises: Unavailable if it cannot be started.
    """
    mark = f"MARID_RUN_{token_hex(8)}"
    own = dict(env) if launch.status is not None else {**env, mark: "1"}
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
    family = Family(child, launch.status, mark, threads)
    with child:  # closes the pipes
        try:
            yield family
        finally:
            family.end()
