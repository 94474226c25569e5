"""Run commands with a small environment, in the sandbox where there is one, and end everything they start."""

import platform
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from marid.adapters.process import process_limits, programs
from marid.adapters.process.child_output import ChildMonitor, ChildOutput, RunCallbacks, RunLimits
from marid.adapters.process.process_tree import start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec, Sandbox
from marid.adapters.sandbox.probe import probe_sandbox
from marid.core.errors import Refused, Unavailable
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState

NO_SANDBOX = SandboxState(confined=False, reason="bubblewrap, which would confine it, is not installed")


class ShellRunner:
    """`env` is the whole environment of commands; without a `sandbox` only those allowed to run unconfined run."""

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
        state, callbacks = self.state(), RunCallbacks(on_output=on_output, stopped=stopped)
        if self._sandbox is not None and state.confined:
            return self._run_confined(self._sandbox, command, callbacks)
        if not command.unconfined:
            raise Refused(f"nothing would confine the command: {state.reason}")
        return self._run_watched(LaunchSpec(argv=self._limit(command, confined=False)), command, callbacks)

    def _probe(self, sandbox: Sandbox) -> SandboxState:
        process_limits.remove_stale_groups()
        sandbox.remove_stale()
        return probe_sandbox(lambda command: self._run_confined(sandbox, command, RunCallbacks()), sandbox.state)

    def _run_confined(self, sandbox: Sandbox, command: ProcessCommand, callbacks: RunCallbacks) -> ProcessResult:
        with sandbox.prepare(replace(command, argv=self._limit(command, confined=True))) as launch:
            return self._run_watched(launch, command, callbacks)

    def _limit(self, command: ProcessCommand, *, confined: bool) -> tuple[str, ...]:
        release = platform.release()
        return process_limits.with_process_limit(command.argv, self._max_processes, release=release, confined=confined)

    def _run_watched(self, launch: LaunchSpec, command: ProcessCommand, callbacks: RunCallbacks) -> ProcessResult:
        limits = RunLimits(timeout=command.seconds, max_output=self._output, max_processes=self._max_processes)
        with process_limits.control_group(self._max_processes) as group:
            joined = replace(launch, argv=process_limits.in_control_group(launch.argv, group))
            with start_process_tree(joined, cwd=command.cwd, env=self._env) as tree:
                output = ChildMonitor(tree, limits, callbacks).read_until_end()
                status = tree.kill()
                if not output.end_reason and not tree.has_reached_command():
                    raise Unavailable(f"the sandbox cannot be set up: {output.streams['err'].text().strip()}")
        return _to_result(output, status, limits)


def _to_result(output: ChildOutput, status: int, limits: RunLimits) -> ProcessResult:
    out, err = output.streams["out"], output.streams["err"]
    crowd = f"\nmarid: more than {limits.max_processes:,} processes and threads at once: all were ended\n"
    return ProcessResult(
        status=status,
        out=out.text(),
        err=err.text() + (crowd if output.end_reason == "crowd" else ""),
        seconds=round(output.seconds, 3),
        timed_out=output.end_reason == "time",
        omitted_bytes=out.dropped_bytes + err.dropped_bytes,
    )
