"""The steps of a call, stacked. Imported with the first call: listing the tools needs none of it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from marid.core.events import Notice
from marid.ports.audit import AuditLog
from marid.ports.processes import ProcessRunner
from marid.toolkit.call_scope import CallScope
from marid.toolkit.call_steps import (
    AskFirst,
    CarryOut,
    Clip,
    ContainErrors,
    LookUp,
    ParseArguments,
    RecordCall,
    inject_ports,
    judge,
)
from marid.toolkit.clip import MAX_OUTPUT_BYTES
from marid.toolkit.dispatch import CallStep, Dispatcher, PlanHandler
from marid.toolkit.hook_steps import HookCall, ObserveCall
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import CommandPlan, PlannedChange, ProcessResult
from marid.workspace.write.commit_journal import recover_commits

if TYPE_CHECKING:
    # Imported when used: a call that only reads needs none of it.
    from marid.adapters.sqlite_approvals import SqliteApprovals
    from marid.toolkit.plan_executor import CommandRunner, PlanExecutor
    from marid.toolkit.thread_pool import DaemonThreadPool

# Separate pools: a long command or a question must not take the thread that would read a file.
_COMMAND_THREADS, _QUESTION_THREADS = 32, 4


class PipelinePorts(NamedTuple):
    """What all calls of a process share. `warnings` about the environment of commands go out with the next command."""

    home: str
    threads: "DaemonThreadPool"
    approvals: "SqliteApprovals"
    audit: AuditLog
    services: Mapping[type, object]
    warnings: list[str]


class DispatcherFactory:
    """Makes dispatchers that share threads, questions and records. Completes edits that a kill interrupted."""

    def __init__(self, home: str, audit: AuditLog, make_ports: Callable[[], PipelinePorts]) -> None:
        recover_commits(home)
        self._audit = audit
        self._make_ports = make_ports

    @cached_property
    def _executor(self) -> "PlanExecutor":
        return make_executor(self._make_ports())

    def make(self, inventory: Inventory) -> Dispatcher:
        """For callers on an event loop."""
        return make_dispatcher(inventory, self._executor)

    def make_blocking(self, inventory: Inventory) -> Dispatcher:
        """For a caller that has no event loop and drives the call with `run_blocking`."""
        from marid.toolkit.blocking import BlockingPlanHandler, BlockingThreads

        threads = BlockingThreads()
        handler = BlockingPlanHandler(threads=threads, audit=self._audit, make_handler=lambda: self._executor)
        return make_dispatcher(inventory, handler)


def make_executor(ports: PipelinePorts) -> "PlanExecutor":
    """What carries out plans and asks for approval, on an event loop."""
    from marid.toolkit.approval_broker import ApprovalBroker
    from marid.toolkit.plan_executor import PlanExecutor
    from marid.toolkit.thread_pool import DaemonThreadPool
    from marid.workspace.guard.protected_files import autorun_reason

    return PlanExecutor(
        threads=ports.threads,
        broker=ApprovalBroker(ports.approvals, DaemonThreadPool(_QUESTION_THREADS)),
        grants=ports.approvals,
        audit=ports.audit,
        commit=Committer(ports.home),
        run_command=_make_runner(DaemonThreadPool(_COMMAND_THREADS), ports.services, ports.warnings),
        autorun_reason=autorun_reason,
        sandbox_state=lambda: _processes(ports.services).state(),
    )


def make_dispatcher(
    inventory: Inventory, executor: PlanHandler, *, max_bytes: int = MAX_OUTPUT_BYTES, strict: bool = False
) -> Dispatcher:
    """Stack the steps of a call, the outermost first. A cache, a metric or a hook is one more line here."""
    threads = executor.threads
    steps: tuple[CallStep, ...] = (
        ObserveCall(threads),
        RecordCall(executor.audit, threads),
        ContainErrors(strict=strict),
        Clip(max_bytes),
        LookUp(inventory),
        HookCall(threads),
        ParseArguments(threads, executor),
        judge,
        inject_ports,
        AskFirst(executor),
        CarryOut(threads, executor),
    )
    return Dispatcher(inventory=inventory, steps=steps)


def _processes(services: Mapping[type, Any]) -> ProcessRunner:
    return services[ProcessRunner]


def _make_runner(threads: "DaemonThreadPool", services: Mapping[type, Any], warnings: list[str]) -> "CommandRunner":
    """Starts commands; the process runner is made with the first one."""

    async def run_plan(plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        from marid.adapters.process.plan_runner import PlanRunner

        processes = await threads.run(lambda: _processes(services))
        while warnings:
            await scope.emit(Notice(warnings.pop(0)))
        return await PlanRunner(processes=processes, threads=threads)(plan, scope, unconfined=unconfined)

    return run_plan


class Committer:
    """Writes changes, with a journal in the home from which an interrupted write is completed."""

    def __init__(self, home: str) -> None:
        self._home = home

    def __call__(self, changes: Sequence[PlannedChange]) -> None:
        from marid.workspace.plain_files import make_private_folder
        from marid.workspace.write.commit import commit

        make_private_folder(self._home)
        commit(changes, self._home)
