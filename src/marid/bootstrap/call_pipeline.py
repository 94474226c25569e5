"""The steps of a call, stacked. Imported with the first call: listing the tools needs none of it."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from marid.bootstrap.parts import make, once
from marid.ports.audit import AuditLog
from marid.ports.processes import ProcessRunner
from marid.toolkit.call_steps import (
    AskFirst,
    CarryOut,
    Clip,
    ContainErrors,
    LookUp,
    ParseArguments,
    RecordCall,
    ShowNotices,
    inject_ports,
    judge,
)
from marid.toolkit.dispatch import CallStep, Dispatcher, PlanHandler
from marid.toolkit.hook_steps import HookCall, ObserveCall
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import MAX_OUTPUT_BYTES, PlannedChange
from marid.workspace.plain_files import make_private_folder
from marid.workspace.write.commit_journal import recover_commits

if TYPE_CHECKING:
    from marid.toolkit.plan_executor import PlanExecutor


class DispatcherFactory:
    """Makes dispatchers that share threads, questions and records.

    Completes edits that a kill interrupted, and moves away what killed commands left; `late_notes` get what was moved.
    """

    def __init__(
        self, home: str, audit: AuditLog, make_executor: "Callable[[AuditLog], PlanExecutor]", late_notes: list[str]
    ) -> None:
        recover_commits(home)
        if os.path.isdir(os.path.join(home, "sandbox")):
            late_notes += make("marid.workspace.quarantine:Quarantine", home).recover()
        self._notices = [*late_notes]
        self._audit = audit
        self._executor = once(partial(make_executor, audit))

    def make(self, inventory: Inventory) -> Dispatcher:
        """For callers on an event loop."""
        return make_dispatcher(inventory, self._executor(), notices=self._notices)

    def make_blocking(self, inventory: Inventory) -> Dispatcher:
        """For a caller that has no event loop and drives the call with `run_blocking`."""
        handler = make("marid.toolkit.blocking:BlockingPlanHandler", audit=self._audit, make_handler=self._executor)
        return make_dispatcher(inventory, handler, notices=self._notices)


def make_executor(
    home: str,
    shared: Mapping[str, Callable[[], Any]],
    processes: Callable[[], ProcessRunner],
    notes: Mapping[str, list[str]],
    audit: AuditLog,
) -> "PlanExecutor":
    """What carries out plans and asks for approval, on an event loop.

    `shared` makes `threads` and `approvals`. The next command shows the `warnings` of `notes`, which are about the
    environment of commands; its result has the `late_notes`.
    """
    threads, approvals = shared["threads"](), shared["approvals"]()
    return make(
        "marid.toolkit.plan_executor:PlanExecutor",
        threads=threads,
        broker=make("marid.toolkit.approval_broker:ApprovalBroker", approvals, threads),
        grants=approvals,
        audit=audit,
        commit=partial(commit_changes, home),
        run_command=make(
            "marid.adapters.process.plan_runner:PlanRunner", processes=processes, threads=threads, **notes
        ),
        autorun_reason=partial(make, "marid.workspace.guard.protected_files:autorun_reason"),
        sandbox_state=lambda: processes().state(),
    )


def make_dispatcher(
    inventory: Inventory,
    executor: PlanHandler,
    *,
    max_bytes: int = MAX_OUTPUT_BYTES,
    strict: bool = False,
    notices: list[str] | None = None,
) -> Dispatcher:
    """Stack the steps of a call, the outermost first. A cache, a metric or a hook is one more line here."""
    threads = executor.threads
    steps: tuple[CallStep, ...] = (
        *([ShowNotices(notices)] if notices else []),
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


def commit_changes(home: str, changes: Sequence[PlannedChange]) -> None:
    """Write changes, with a journal in the home from which an interrupted write is completed."""
    make_private_folder(home)
    make("marid.workspace.write.commit:commit", changes, home)
