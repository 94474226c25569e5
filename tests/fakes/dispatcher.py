"""The whole call pipeline over a folder, with fakes at its edges."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec

import anyio

from fakes.approvals import FakeApprovals
from fakes.events import emit_into
from fakes.ports import FakeAudit
from marid.bootstrap.call_pipeline import make_dispatcher
from marid.core.caller import Caller
from marid.core.policy.approval import ApprovalAnswer, Decline, Question
from marid.core.policy.policy import Policy
from marid.ports.processes import SandboxState
from marid.toolkit.approval_broker import ApprovalBroker
from marid.toolkit.call_scope import CallScope
from marid.toolkit.inventory import Inventory, available_tools
from marid.toolkit.outcome import CommandPlan, Outcome, ProcessResult
from marid.toolkit.plan_executor import PlanExecutor
from marid.toolkit.spec import ToolSpec
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.guard.api import PathScope
from marid.workspace.guard.protected_files import autorun_reason
from marid.workspace.write.commit import commit

P = ParamSpec("P")
CALLER = Caller(face="test", conversation="talk")


class ScriptedAsker:
    """Gives these answers, then none. `asked` has the questions."""

    def __init__(self, *answers: ApprovalAnswer | Decline | None) -> None:
        self.asked: list[Question] = []
        self._answers = list(answers)

    async def ask(self, question: Question) -> ApprovalAnswer | Decline | None:
        self.asked.append(question)
        return self._answers.pop(0) if self._answers else None


class SilentAsker:
    """Never answers; `shown` is set when it is asked, `gone` when the question is withdrawn."""

    def __init__(self) -> None:
        self.shown = anyio.Event()
        self.gone = anyio.Event()

    async def ask(self, question: Question) -> ApprovalAnswer | None:
        self.shown.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.gone.set()
        return None


class FakeRunner:
    """Runs nothing; `plans` has what it was to run."""

    def __init__(self, ran: ProcessResult | None = None) -> None:
        self.ran = ran or ProcessResult(status=0, out="out\n", err="", seconds=0.5)
        self.plans: list[tuple[CommandPlan, bool]] = []

    async def __call__(self, plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        self.plans.append((plan, unconfined))
        return self.ran


class CallHarness:
    """Everything between a caller and the tools. `heard` has the events."""

    def __init__(
        self,
        root: Path,
        *specs: ToolSpec,
        confined: bool = True,
        strict: bool = True,
        max_bytes: int = 4_000_000,
        audit: FakeAudit | None = None,
        approvals: FakeApprovals | None = None,
        run: Any = None,
    ) -> None:
        self.root = root
        self.path_scope = PathScope([str(root)])
        self.threads = DaemonThreadPool(8)
        self.approvals = approvals or FakeApprovals()
        self.audit = audit or FakeAudit()
        self.runner = run or FakeRunner()
        self.heard: list[Any] = []
        self.executor = PlanExecutor(
            threads=self.threads,
            broker=ApprovalBroker(self.approvals, self.threads, poll=0.005),
            grants=self.approvals,
            audit=self.audit,
            commit=commit,
            run_command=self.runner,
            autorun_reason=autorun_reason,
            sandbox_state=lambda: SandboxState(confined=confined),
        )
        self.dispatcher = make_dispatcher(Inventory(specs), self.executor, max_bytes=max_bytes, strict=strict)

    def scope(self, policy: Policy | None = None, **given: Any) -> CallScope:
        """The scope of a caller in a conversation, unless `given` says otherwise."""
        usual = {"caller": CALLER, "path_scope": self.path_scope, "emit": emit_into(self.heard), "run_id": "r1"}
        fields: dict[str, Any] = {**usual, **given}
        return CallScope(policy=policy or Policy(), **fields)

    def offered(self, scope: CallScope) -> list[ToolSpec]:
        """The tools that such a caller is offered."""
        return available_tools(self.dispatcher.inventory, scope)

    def call(self, name: str, args: Mapping[str, object], scope: CallScope | None = None, **given: Any) -> Outcome:
        """The outcome of one call."""
        return run_within(30, lambda: self.dispatcher.call(name, args, scope or self.scope(), **given))


def emit_sets(event: anyio.Event) -> Callable[[object], Awaitable[None]]:
    """Emits by setting this event."""

    async def emit(what: object) -> None:
        event.set()

    return emit


def async_test(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test on an event loop, and fail if it takes longer than 20 seconds."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        run_within(20, partial(test, *args, **kwargs))

    return run


def run_within(seconds: float, work: Callable[[], Any]) -> Any:
    """Run an async function, and fail if it takes too long."""

    async def main() -> Any:
        with anyio.fail_after(seconds):
            return await work()

    return anyio.run(main)
