"""Planned commands carried out: from a plan and who called to a command, in a thread, until it has ended."""

import os
from dataclasses import dataclass
from threading import Event

import anyio

from marid.core.errors import Unavailable
from marid.ports.processes import ProcessCommand, ProcessRunner
from marid.ports.processes import ProcessResult as Left
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
        """Run it; a caller who gives up waits until all that was started is gone. Raises: MaridError."""
        command = ProcessCommand(
            argv=plan.argv,
            cwd=_path(plan.cwd.root.path, plan.cwd.name),
            roots=tuple(
                _path(tree.path, tree.only_file) for tree in scope.path_scope.guarded_roots if tree.is_intact()
            ),
            seconds=plan.timeout,
            network=plan.network,
            unconfined=unconfined,
        )
        deed = _CancellableCommand(self.processes, command)
        try:
            left = await self.threads.run(deed)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.threads.run(deed.stop)
            raise
        return ProcessResult(
            status=left.status, out=left.out, err=left.err, seconds=left.seconds, timed_out=left.timed_out
        )


def _path(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))


class _CancellableCommand:
    """One command, which may be stopped by another thread."""

    def __init__(self, processes: ProcessRunner, command: ProcessCommand) -> None:
        self._processes = processes
        self._command = command
        self._started, self._stopped, self._ended = Event(), Event(), Event()

    def __call__(self) -> Left:
        self._started.set()
        try:
            if self._stopped.is_set():
                raise Unavailable("the caller has gone")
            return self._processes.run(self._command, stopped=self._stopped.is_set)
        finally:
            self._ended.set()

    def stop(self) -> None:
        """Returns when it has ended; if it has not begun, it never will."""
        self._stopped.set()
        if self._started.is_set():
            self._ended.wait(_STOP_TIMEOUT)
