"""The road that calls take, put together. Imported with the first call: listing the tools needs none of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marid.core.events import Notice
from marid.ports.processes import ProcessRunner
from marid.toolkit.approval_broker import ApprovalBroker
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import CommandPlan, PlannedChange, ProcessResult
from marid.toolkit.plan_executor import CommandRunner, PlanExecutor
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.guard.protected_names import autorun_reason
from marid.workspace.write.commit import commit
from marid.workspace.write.private_folders import make_private_folder
from marid.workspace.write.recover import recover_commits

if TYPE_CHECKING:
    from marid.adapters.approvals.database import SqliteApprovals
    from marid.ports.audit import AuditLog

# Pools of their own: a long command or a question must not keep a thread from the reading of a file.
_COMMAND_THREADS, _QUESTION_THREADS = 32, 4


def make_dispatcher_factory(
    home: str,
    approvals: "SqliteApprovals",
    audit: "AuditLog",
    services: Mapping[type, object],
    warnings: list[str],
) -> Callable[[Inventory], Dispatcher]:
    """What makes dispatchers that share threads, questions and records. Edits that a kill left half done are ended.

    `warnings` are what is wrong with the environment of commands, once it is known; told with the next command.
    """
    recover_commits(home)
    threads = DaemonThreadPool()
    deeds = PlanExecutor(
        threads=threads,
        broker=ApprovalBroker(approvals, DaemonThreadPool(_QUESTION_THREADS)),
        grants=approvals,
        audit=audit,
        commit=Committer(home),
        run_command=_make_runner(DaemonThreadPool(_COMMAND_THREADS), services, warnings),
        autorun_reason=autorun_reason,
        sandbox_state=lambda: _processes(services).state(),
    )
    return lambda inventory: Dispatcher(inventory=inventory, threads=threads, executor=deeds, audit=audit)


def _processes(services: Mapping[type, Any]) -> ProcessRunner:
    return services[ProcessRunner]


def _make_runner(threads: DaemonThreadPool, services: Mapping[type, Any], warnings: list[str]) -> CommandRunner:
    """Starts commands; how is found out when the first one comes."""

    async def run_plan(plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        from marid.adapters.process.plan_runner import PlanRunner

        processes = await threads.run(lambda: _processes(services))
        while warnings:
            scope.emit(Notice(warnings.pop(0)))
        return await PlanRunner(processes=processes, threads=threads)(plan, scope, unconfined=unconfined)

    return run_plan


class Committer:
    """Writes changes, and notes in the home what a kill would leave half done."""

    def __init__(self, home: str) -> None:
        self._home = home

    def __call__(self, changes: Sequence[PlannedChange]) -> None:
        make_private_folder(self._home)
        commit(changes, self._home)
