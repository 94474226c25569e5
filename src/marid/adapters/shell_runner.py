"""Commands run with a small environment, confined where that is possible, and never left alone."""

import platform
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from marid.adapters import limits, processes
from marid.adapters.sandbox import Launch, Sandbox
from marid.adapters.sandbox_probe import probe
from marid.adapters.supervision import Family, started
from marid.adapters.watching import Bounds, Hooks, Watched, Watcher
from marid.core.errors import Refused, Unavailable
from marid.ports.processes import Command, OnOutput, Ran, SandboxState

NO_SANDBOX = SandboxState(confined=False, reason="bubblewrap, which would confine it, is not installed")


class ShellRunner:
    """`env` is the whole environment of commands; without a `sandbox` they run only where somebody said so."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        sandbox: Sandbox | None,
        output: int = 1_000_000,
        most: int = limits.MOST_PROCESSES,
    ) -> None:
        self._env = dict(env)
        self._sandbox = sandbox
        self._output = output
        self._most = most
        self._lock = threading.Lock()
        self._state: SandboxState | None = None

    def state(self) -> SandboxState:
        """Whether commands are confined here."""
        with self._lock:
            if self._state is None:
                self._state = NO_SANDBOX if self._sandbox is None else self._tried(self._sandbox)
            return self._state

    def find(self, *names: str) -> str | None:
        """The first of these programs that is on the PATH of commands."""
        return next((found for name in names if (found := processes.find(name, self._env))), None)

    def run(
        self, command: Command, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> Ran:
        """Run a command; see the port."""
        state, hooks = self.state(), Hooks(on_output=on_output, stopped=stopped)
        if self._sandbox is not None and state.confined:
            return self._confined(self._sandbox, command, hooks)
        if not command.unconfined:
            raise Refused(f"nothing would confine the command: {state.reason}")
        argv = limits.limited(command.argv, self._most, release=platform.release(), confined=False)
        return self._watched(Launch(argv=argv), command, hooks)

    def _tried(self, sandbox: Sandbox) -> SandboxState:
        limits.sweep()
        sandbox.sweep()
        return probe(lambda command: self._confined(sandbox, command, Hooks()), sandbox.state)

    def _confined(self, sandbox: Sandbox, command: Command, hooks: Hooks) -> Ran:
        argv = limits.limited(command.argv, self._most, release=platform.release(), confined=True)
        with sandbox.around(replace(command, argv=argv)) as launch:
            return self._watched(launch, command, hooks)

    def _watched(self, launch: Launch, command: Command, hooks: Hooks) -> Ran:
        bounds = Bounds(seconds=command.seconds, output=self._output, processes=self._most)
        with limits.control_group(self._most) as group, self._started(launch, command.cwd, group) as family:
            watched = Watcher(family, bounds, hooks).watch()
            status = family.end()
            if not watched.why and not family.was_set_up():
                raise Unavailable(f"the sandbox cannot be set up: {watched.streams['err'].text().strip()}")
        return _ran(watched, status, bounds)

    def _started(self, launch: Launch, cwd: str, group: str | None) -> AbstractContextManager[Family]:
        return started(replace(launch, argv=limits.joined(launch.argv, group)), cwd=cwd, env=self._env)


def _ran(watched: Watched, status: int, bounds: Bounds) -> Ran:
    out, err = watched.streams["out"], watched.streams["err"]
    crowd = f"\nmarid: more than {bounds.processes:,} processes and threads at once: all were ended\n"
    return Ran(
        status=status,
        out=out.text(),
        err=err.text() + (crowd if watched.why == "crowd" else ""),
        seconds=round(watched.seconds, 3),
        timed_out=watched.why == "time",
        cut=out.cut + err.cut,
    )
