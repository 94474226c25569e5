"""The road that calls take, put together. Imported with the first call: listing the tools needs none of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marid.core.events import Note
from marid.ports.processes import Processes
from marid.toolkit.deeds import Deeds, Runner
from marid.toolkit.desk import Desk
from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import Change, Ran, Run
from marid.toolkit.scope import Scope
from marid.toolkit.threads import Threads
from marid.workspace.commit import commit
from marid.workspace.forbidden import runs_later
from marid.workspace.private import private_folder
from marid.workspace.recover import recover

if TYPE_CHECKING:
    from marid.adapters.approvals import SqliteApprovals
    from marid.ports.audit import Audit

# Pools of their own: a long command or a question must not keep a thread from the reading of a file.
_COMMANDS, _WAITING = 32, 4


def make_road(
    home: str,
    approvals: "SqliteApprovals",
    audit: "Audit",
    services: Mapping[type, object],
    warnings: list[str],
) -> Callable[[Inventory], Dispatcher]:
    """What makes dispatchers that share threads, questions and records. Edits that a kill left half done are ended.

    `warnings` are what is wrong with the environment of commands, once it is known; told with the next command.
    """
    recover(home)
    threads = Threads()
    deeds = Deeds(
        threads=threads,
        desk=Desk(approvals, Threads(_WAITING)),
        standing=approvals,
        audit=audit,
        commit=Committer(home),
        run=_runner(Threads(_COMMANDS), services, warnings),
        runs_later=runs_later,
        confined=lambda: _processes(services).state(),
    )
    return lambda inventory: Dispatcher(inventory=inventory, threads=threads, deeds=deeds, audit=audit)


def _processes(services: Mapping[type, Any]) -> Processes:
    return services[Processes]


def _runner(threads: Threads, services: Mapping[type, Any], warnings: list[str]) -> Runner:
    """Starts commands; how is found out when the first one comes."""

    async def run(plan: Run, scope: Scope, *, unconfined: bool) -> Ran:
        from marid.adapters.plan_runner import PlanRunner

        processes = await threads.run(lambda: _processes(services))
        while warnings:
            scope.emit(Note(warnings.pop(0)))
        return await PlanRunner(processes=processes, threads=threads)(plan, scope, unconfined=unconfined)

    return run


class Committer:
    """Writes changes, and notes in the home what a kill would leave half done."""

    def __init__(self, home: str) -> None:
        self._home = home

    def __call__(self, changes: Sequence[Change]) -> None:
        private_folder(self._home)
        commit(changes, self._home)
