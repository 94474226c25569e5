"""Carry out a planned command in a thread."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Event

import anyio
from anyio.lowlevel import RunVar

from marid.core.errors import Unavailable
from marid.core.events import Notice
from marid.ports.processes import ProcessCommand, ProcessResult, ProcessRunner
from marid.toolkit.call_scope import CallScope
from marid.toolkit.outcome import CommandPlan
from marid.toolkit.thread_pool import DaemonThreadPool

_STOP_TIMEOUT = 5.0
# Commands at once: the other threads of the pool stay free for reading files.
_MAX_COMMANDS = 32
_COMMAND_SLOTS = RunVar[anyio.CapacityLimiter]("command slots")


@dataclass(frozen=True, kw_only=True)
class PlanRunner:
    """Runs commands for the plan executor. `processes` is made with the first one, which also shows the `warnings`.

    `late_notes` were shown to the person, but are of commands whose call has no result: the next result has them.
    """

    processes: Callable[[], ProcessRunner]
    threads: DaemonThreadPool
    warnings: list[str] = field(default_factory=list[str])
    late_notes: list[str] = field(default_factory=list[str])

    async def __call__(self, plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        """Run the plan; a cancelled call returns when everything it started has ended. Raises: MaridError."""
        processes = await self.threads.run(self.processes)
        await _show(self.warnings, scope)
        self.warnings.clear()
        roots = (_path(root.path, root.only_file) for root in scope.path_scope.guarded_roots if root.is_intact())
        command = ProcessCommand(
            argv=plan.argv,
            cwd=_path(plan.cwd.root.path, plan.cwd.name),
            roots=tuple(roots),
            seconds=plan.timeout,
            network=plan.network,
            unconfined=unconfined,
        )
        running = _CancellableCommand(processes, command)
        try:
            async with _command_slots():
                result = await self.threads.run(running)
        except anyio.get_cancelled_exc_class():
            running.stop()
            notes = await self.threads.run_to_end(running.wait)
            self.late_notes.extend(notes)
            with anyio.CancelScope(shield=True):
                await _show(notes, scope)
            raise
        await _show(result.notes, scope)
        late = tuple(self.late_notes)
        self.late_notes.clear()
        return replace(result, notes=(*late, *result.notes))


async def _show(notes: Iterable[str], scope: CallScope) -> None:
    for note in notes:
        await scope.emit(Notice(note))


def _command_slots() -> anyio.CapacityLimiter:
    """One limiter for each event loop, as `anyio.to_thread` has it."""
    try:
        return _COMMAND_SLOTS.get()
    except LookupError:
        _COMMAND_SLOTS.set(limiter := anyio.CapacityLimiter(_MAX_COMMANDS))
        return limiter


def _path(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))


class _CancellableCommand:
    """A command that another thread may stop."""

    def __init__(self, processes: ProcessRunner, command: ProcessCommand) -> None:
        self._processes = processes
        self._command = command
        self._started, self._stopped, self._ended = Event(), Event(), Event()
        self._notes: tuple[str, ...] = ()

    def __call__(self) -> ProcessResult:
        self._started.set()
        try:
            if self._stopped.is_set():
                raise Unavailable("the call was cancelled")
            result = self._processes.run(self._command, stopped=self._stopped.is_set)
            self._notes = result.notes
            return result
        finally:
            self._ended.set()

    def stop(self) -> None:
        """End the command; one that has not started never will."""
        self._stopped.set()

    def wait(self) -> tuple[str, ...]:
        """The notes on the command, when it has ended."""
        if self._started.is_set():
            self._ended.wait(_STOP_TIMEOUT)
        return self._notes
