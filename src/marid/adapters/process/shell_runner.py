"""Commands run with a small environment, confined where that is possible, and never left alone."""

import platform
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from marid.adapters.process import process_limits, programs
from marid.adapters.process.child_output import ChildMonitor, ChildOutput, RunCallbacks, RunLimits
from marid.adapters.process.process_tree import ProcessTree, start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec, Sandbox
from marid.adapters.sandbox.probe import probe_sandbox
from marid.core.errors import Refused, Unavailable
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState

NO_SANDBOX = SandboxState(confined=False, reason="bubblewrap, which would confine it, is not installed")


class ShellRunner:
    """`env` is the whole environment of commands; without a `sandbox` they run only where somebody said so."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        sandbox: Sandbox | None,
        output: int = 1_000_000,
        max_processes: int = process_limits.MAX_PROCESSES,
    ) -> None:
        self._env = dict(env)
        self._sandbox = sandbox
        self._output = output
        self._max_processes = max_processes
        self._lock = threading.Lock()
        self._state: SandboxState | None = None

    def state(self) -> SandboxState:
        """Whether commands are confined here."""
        with self._lock:
            if self._state is None:
                self._state = NO_SANDBOX if self._sandbox is None else self._probe(self._sandbox)
            return self._state

    def find(self, *names: str) -> str | None:
        """The first of these programs that is on the PATH of commands."""
        return next((found for name in names if (found := programs.find(name, self._env))), None)

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        """Run a command; see the port."""
        state, hooks = self.state(), RunCallbacks(on_output=on_output, stopped=stopped)
        if self._sandbox is not None and state.confined:
            return self._run_confined(self._sandbox, command, hooks)
        if not command.unconfined:
            raise Refused(f"nothing would confine the command: {state.reason}")
        argv = process_limits.with_process_limit(
            command.argv, self._max_processes, release=platform.release(), confined=False
        )
        return self._run_watched(LaunchSpec(argv=argv), command, hooks)

    def _probe(self, sandbox: Sandbox) -> SandboxState:
        process_limits.remove_stale_groups()
        sandbox.remove_stale()
        return probe_sandbox(lambda command: self._run_confined(sandbox, command, RunCallbacks()), sandbox.state)

    def _run_confined(self, sandbox: Sandbox, command: ProcessCommand, hooks: RunCallbacks) -> ProcessResult:
        argv = process_limits.with_process_limit(
            command.argv, self._max_processes, release=platform.release(), confined=True
        )
        with sandbox.prepare(replace(command, argv=argv)) as launch:
            return self._run_watched(launch, command, hooks)

    def _run_watched(self, launch: LaunchSpec, command: ProcessCommand, hooks: RunCallbacks) -> ProcessResult:
        bounds = RunLimits(timeout=command.seconds, max_output=self._output, max_processes=self._max_processes)
        with (
            process_limits.control_group(self._max_processes) as group,
            self._start(launch, command.cwd, group) as family,
        ):
            watched = ChildMonitor(family, bounds, hooks).read_until_end()
            status = family.kill()
            if not watched.end_reason and not family.has_reached_command():
                raise Unavailable(f"the sandbox cannot be set up: {watched.streams['err'].text().strip()}")
        return _to_result(watched, status, bounds)

    def _start(self, launch: LaunchSpec, cwd: str, group: str | None) -> AbstractContextManager[ProcessTree]:
        return start_process_tree(
            replace(launch, argv=process_limits.in_control_group(launch.argv, group)), cwd=cwd, env=self._env
        )


def _to_result(watched: ChildOutput, status: int, bounds: RunLimits) -> ProcessResult:
    out, err = watched.streams["out"], watched.streams["err"]
    crowd = f"\nmarid: more than {bounds.max_processes:,} processes and threads at once: all were ended\n"
    return ProcessResult(
        status=status,
        out=out.text(),
        err=err.text() + (crowd if watched.end_reason == "crowd" else ""),
        seconds=round(watched.seconds, 3),
        timed_out=watched.end_reason == "time",
        omitted_bytes=out.dropped_bytes + err.dropped_bytes,
    )
