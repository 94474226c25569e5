"""Run commands with a small environment, in the sandbox where there is one, and end everything they start."""

import platform
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from marid.adapters.process import process_limits, programs
from marid.adapters.process.child_output import ChildMonitor, ChildOutput, RunOptions
from marid.adapters.process.process_tree import start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec, Sandbox
from marid.adapters.sandbox.probe import PROBE_TIMEOUT, probe_sandbox
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
        self._options = RunOptions(max_output=output, max_processes=max_processes)
        self._lock = threading.Lock()
        self._state: SandboxState | None = None

    def state(self) -> SandboxState:
        with self._lock:
            if self._state is None:
                self._state = NO_SANDBOX if self._sandbox is None else self._probe(self._sandbox)
            return self._state

    def find(self, *names: str) -> str | None:
        return next((found for name in names if (found := programs.find(name, self._env))), None)

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        state = self.state()
        options = replace(self._options, timeout=command.seconds, on_output=on_output, stopped=stopped)
        if self._sandbox is not None and state.confined:
            return self._run_confined(self._sandbox, command, options)
        if not command.unconfined:
            raise Refused(f"nothing would confine the command: {state.reason}")
        return self._run_watched(LaunchSpec(argv=self._limit(command, confined=False)), command, options)

    def _probe(self, sandbox: Sandbox) -> SandboxState:
        process_limits.remove_stale_groups()
        sandbox.remove_stale()
        options = replace(self._options, timeout=PROBE_TIMEOUT)
        return probe_sandbox(lambda command: self._run_confined(sandbox, command, options), sandbox.state)

    def _run_confined(self, sandbox: Sandbox, command: ProcessCommand, options: RunOptions) -> ProcessResult:
        with sandbox.prepare(replace(command, argv=self._limit(command, confined=True))) as launch:
            return self._run_watched(launch, command, options)

    def _limit(self, command: ProcessCommand, *, confined: bool) -> tuple[str, ...]:
        limit, release = self._options.max_processes, platform.release()
        return process_limits.with_process_limit(command.argv, limit, release=release, confined=confined)

    def _run_watched(self, launch: LaunchSpec, command: ProcessCommand, options: RunOptions) -> ProcessResult:
        with process_limits.control_group(options.max_processes) as group:
            joined = replace(launch, argv=process_limits.in_control_group(launch.argv, group))
            with start_process_tree(joined, cwd=command.cwd, env=self._env) as tree:
                output = ChildMonitor(tree, options).read_until_end()
                status = tree.kill()
                if not output.end_reason and not tree.has_reached_command():
                    raise Unavailable(f"the sandbox cannot be set up: {output.streams['err'].text().strip()}")
        return _to_result(output, status, options)


def _to_result(output: ChildOutput, status: int, options: RunOptions) -> ProcessResult:
    out, err = output.streams["out"], output.streams["err"]
    crowd = f"\nmarid: more than {options.max_processes:,} processes and threads at once: all were ended\n"
    return ProcessResult(
        status=status,
        out=out.text(),
        err=err.text() + (crowd if output.end_reason == "crowd" else ""),
        seconds=round(output.seconds, 3),
        timed_out=output.end_reason == "time",
        omitted_bytes=out.dropped_bytes + err.dropped_bytes,
    )
