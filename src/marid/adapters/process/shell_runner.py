"""Run commands with a small environment, in the sandbox where there is one, and end everything they start."""

import contextlib
import os
import platform
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex

from marid.adapters.process import programs
from marid.adapters.process.child_output import MAX_PROCESSES, ChildMonitor, ChildOutput, RunOptions
from marid.adapters.process.process_tree import machine_thread_count, start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec, Sandbox
from marid.adapters.sandbox.probe import PROBE_TIMEOUT, probe_sandbox
from marid.core.errors import Refused, Unavailable
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState

# The kernel limits the number of processes: a watcher is slower than a fork bomb. A resource limit works for every user
# but root, whom the kernel exempts even in a user namespace. Root gets a control group, where one can be created.
CGROUP_ROOTS = ("/sys/fs/cgroup/pids", "/sys/fs/cgroup")  # version 1 and version 2
# Since this version the kernel counts the processes of each user namespace separately.
_NAMESPACED_COUNT_SINCE = (5, 14)
# A shell sets the limits and then becomes the command: with threads, Python must not run between fork and exec.
_LIMIT_SCRIPT = 'ulimit -c 0; ulimit -p "$1" 2>/dev/null || ulimit -u "$1" 2>/dev/null; shift; exec "$@"'
_JOIN_SCRIPT = '{ echo $$ > "$1"; } 2>/dev/null; shift; exec "$@"'
_GROUP_PREFIX = "marid-"
NO_SANDBOX = SandboxState(confined=False, reason="bubblewrap, which would confine it, is not installed")


class ShellRunner:
    """`env` is the whole environment of commands; without a `sandbox` only those allowed to run unconfined run."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        sandbox: Sandbox | None,
        output: int = 1_000_000,
        max_processes: int = MAX_PROCESSES,
    ) -> None:
        self._env = dict(env)
        self._sandbox = sandbox
        self._options = RunOptions(max_output=output, max_processes=max_processes)
        self._lock = threading.Lock()
        self._state: SandboxState | None = None
        self._late_notes: list[str] = []

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
            late, self._late_notes = self._late_notes, []
            result = self._run_confined(self._sandbox, command, options)
            return replace(result, notes=(*late, *result.notes))
        if not command.unconfined:
            raise Refused(f"nothing would confine the command: {state.reason}")
        return self._run_watched(LaunchSpec(argv=self._limit(command, confined=False)), command, options)

    def _probe(self, sandbox: Sandbox) -> SandboxState:
        remove_stale_groups()
        self._late_notes = sandbox.recover()
        options = replace(self._options, timeout=PROBE_TIMEOUT)
        return probe_sandbox(lambda command: self._run_confined(sandbox, command, options), sandbox.state)

    def _run_confined(self, sandbox: Sandbox, command: ProcessCommand, options: RunOptions) -> ProcessResult:
        with sandbox.prepare(replace(command, argv=self._limit(command, confined=True))) as launch:
            result = self._run_watched(launch, command, options)
        return replace(result, notes=tuple(launch.notes))

    def _limit(self, command: ProcessCommand, *, confined: bool) -> tuple[str, ...]:
        limit, release = self._options.max_processes, platform.release()
        return with_process_limit(command.argv, limit, release=release, confined=confined)

    def _run_watched(self, launch: LaunchSpec, command: ProcessCommand, options: RunOptions) -> ProcessResult:
        with control_group(options.max_processes) as group:
            joined = replace(launch, argv=in_control_group(launch.argv, group))
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


def with_process_limit(argv: Sequence[str], max_processes: int, *, release: str, confined: bool) -> tuple[str, ...]:
    """The command limited to `max_processes` and without core dumps; `release` is the kernel's."""
    version = tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdecimal())
    counted_alone = confined and version >= _NAMESPACED_COUNT_SINCE
    limit = max_processes if counted_alone else max_processes + machine_thread_count()
    return ("/bin/sh", "-c", _LIMIT_SCRIPT, "sh", str(limit), *argv)


def in_control_group(argv: Sequence[str], group: str | None) -> tuple[str, ...]:
    """The command in a control group, if there is one."""
    return tuple(argv) if group is None else ("/bin/sh", "-c", _JOIN_SCRIPT, "sh", f"{group}/cgroup.procs", *argv)


@contextlib.contextmanager
def control_group(max_processes: int, roots: Sequence[str] = CGROUP_ROOTS) -> Generator[str | None]:
    """A temporary control group of at most `max_processes` processes and threads; None if it cannot be created."""
    name = f"{_GROUP_PREFIX}{os.getpid()}-{token_hex(4)}"
    group = next((path for root in roots if _create_group(path := os.path.join(root, name), max_processes)), None)
    try:
        yield group
    finally:
        # Retry while the kernel reaps the dead; `remove_stale_groups` removes what is left.
        for wait in (0.0, 0.01, 0.1, 0.5) if group else ():
            time.sleep(wait)
            with contextlib.suppress(OSError):
                os.rmdir(str(group))
                break


def _create_group(group: str, max_processes: int) -> bool:
    if not os.path.exists(os.path.join(os.path.dirname(group), "cgroup.procs")):
        return False
    try:
        os.mkdir(group)
    except OSError:
        return False
    try:
        with open(os.path.join(group, "pids.max"), "r+b", buffering=0) as file:
            file.write(b"%d" % max_processes)
    except OSError:  # groups do not count processes here
        os.rmdir(group)
        return False
    return True


def remove_stale_groups(roots: Sequence[str] = CGROUP_ROOTS) -> None:
    """Remove the groups that killed processes of ours have left."""
    for root in roots:
        with contextlib.suppress(OSError):
            for name in os.listdir(root):
                owner = name.removeprefix(_GROUP_PREFIX).partition("-")[0]
                if name.startswith(_GROUP_PREFIX) and not os.path.exists(f"/proc/{owner}"):
                    os.rmdir(os.path.join(root, name))
