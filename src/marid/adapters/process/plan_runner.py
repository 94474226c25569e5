"""Carry out a planned command in a thread."""

import os
from dataclasses import dataclass
from threading import Event

import anyio

from marid.core.errors import Unavailable
from marid.ports.processes import ProcessCommand, ProcessRunner
from marid.ports.processes import ProcessResult as PortResult
from marid.toolkit.call_scope import CallScope
from marid.toolkit.outcome import CommandPlan, ProcessResult
from marid.toolkit.thread_pool import DaemonThreadPool

_STOP_TIMEOUT = 5.0


@dataclass(frozen=True, kw_only=True)
class PlanRunner:
    """The runner that the dispatcher calls."""

    processes: ProcessRunner
    threads: DaemonThreadPool

    async def __call__(self, plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        """Run the plan; a cancelled call returns when everything it started has ended. Raises: MaridError."""
        roots = (_path(root.path, root.only_file) for root in scope.path_scope.guarded_roots if root.is_intact())
        command = ProcessCommand(
            argv=plan.argv,
            cwd=_path(plan.cwd.root.path, plan.cwd.name),
            roots=tuple(roots),
            seconds=plan.timeout,
            network=plan.network,
            unconfined=unconfined,
        )
        running = _CancellableCommand(self.processes, command)
        try:
            result = await self.threads.run(running)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.threads.run(running.stop)
            raise
        return ProcessResult(
            status=result.status, out=result.out, err=result.err, seconds=result.seconds, timed_out=result.timed_out
        )


def _path(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))


class _CancellableCommand:
    """A command that another thread may stop."""

    def __init__(self, processes: ProcessRunner, command: ProcessCommand) -> None:
        self._processes = processes
        self._command = command
        self._started, self._stopped, self._ended = Event(), Event(), Event()

    def __call__(self) -> PortResult:
        self._started.set()
        try:
            if self._stopped.is_set():
                raise Unavailable("the call was cancelled")
            return self._processes.run(self._command, stopped=self._stopped.is_set)
        finally:
            self._ended.set()

    def stop(self) -> None:
        """Return when the command has ended; one that has not started never will."""
        self._stopped.set()
        if self._started.is_set():
            self._ended.wait(_STOP_TIMEOUT)
