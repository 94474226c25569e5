"""Planned commands carried out: from a plan and who called to a command, in a thread, until it has ended."""

import os
from dataclasses import dataclass
from threading import Event

import anyio

from marid.core.errors import Unavailable
from marid.ports.processes import Command, Processes
from marid.ports.processes import Ran as Left
from marid.toolkit.outcome import Ran, Run
from marid.toolkit.scope import Scope
from marid.toolkit.threads import Threads

_SLOWEST_END = 5.0


@dataclass(frozen=True, kw_only=True)
class PlanRunner:
    """The runner that the dispatcher calls."""

    processes: Processes
    threads: Threads

    async def __call__(self, plan: Run, scope: Scope, *, unconfined: bool) -> Ran:
        """Run it; a caller who gives up waits until all that was started is gone. Raises: MaridError."""
        command = Command(
            argv=plan.argv,
            cwd=_path(plan.cwd.tree.path, plan.cwd.name),
            roots=tuple(_path(tree.path, tree.only) for tree in scope.territory.trees if tree.stands()),
            seconds=plan.seconds,
            network=plan.network,
            unconfined=unconfined,
        )
        deed = _Deed(self.processes, command)
        try:
            left = await self.threads.run(deed)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.threads.run(deed.stop)
            raise
        return Ran(status=left.status, out=left.out, err=left.err, seconds=left.seconds, timed_out=left.timed_out)


def _path(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))


class _Deed:
    """One command, which may be stopped by another thread."""

    def __init__(self, processes: Processes, command: Command) -> None:
        self._processes = processes
        self._command = command
        self._begun, self._stopped, self._ended = Event(), Event(), Event()

    def __call__(self) -> Left:
        self._begun.set()
        try:
            if self._stopped.is_set():
                raise Unavailable("the caller has gone")
            return self._processes.run(self._command, stopped=self._stopped.is_set)
        finally:
            self._ended.set()

    def stop(self) -> None:
        """Returns when it has ended; if it has not begun, it never will."""
        self._stopped.set()
        if self._begun.is_set():
            self._ended.wait(_SLOWEST_END)
