"""Carrying out what a tool has planned: judged with the plan in hand, asked for, and then done once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import anyio

from marid.core.errors import Exhausted, Refused, Unavailable
from marid.core.events import Notice
from marid.core.policy.approval import ApprovalAnswer, QuestionKind
from marid.core.policy.policy import Effect, Verdict
from marid.ports.approvals import StandingGrants
from marid.ports.audit import AuditLog
from marid.ports.processes import SandboxState
from marid.text.display import quote_path
from marid.toolkit.approval_broker import ApprovalBroker
from marid.toolkit.call_scope import CallScope
from marid.toolkit.call_state import CallState
from marid.toolkit.outcome import BodyResult, CommandPlan, EditPlan, PlannedChange, ProcessResult, ToolOutput
from marid.toolkit.preview import Preview, command_preview, edit_preview
from marid.toolkit.questions import QuestionBuilder, grant_hint
from marid.toolkit.spec import ToolSpec
from marid.toolkit.thread_pool import DaemonThreadPool

# A yes to these holds on: a host or a path is asked for once.
_LASTING_KINDS = frozenset({QuestionKind.FETCH, QuestionKind.OUTSIDE})
COMMIT_TIMEOUT = 60.0
# Beyond a command's own limit, which the runner keeps: only a runner that hangs is met by this.
_GRACE_SECONDS = 30.0


class CommandRunner(Protocol):
    """Starts commands. `unconfined`: whoever said yes knew that there is no sandbox."""

    async def __call__(self, plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        """What the command left; it has ended when this returns, also by cancelling. Raises: MaridError."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanExecutor:
    """`commit` writes all changes or none, `runs_later` says why a name is dangerous to write ("": it is not), and
    `confined` whether commands run in a sandbox. Where policy allows the network without a question, they have it.
    """

    threads: DaemonThreadPool
    broker: ApprovalBroker
    grants: StandingGrants
    audit: AuditLog
    commit: Callable[[Sequence[PlannedChange]], None]
    run_command: CommandRunner
    autorun_reason: Callable[[str], str]
    sandbox_state: Callable[[], SandboxState]
    commit_timeout: float = COMMIT_TIMEOUT

    async def execute(self, spec: ToolSpec, result: BodyResult, scope: CallScope, state: CallState) -> ToolOutput:
        """The result, once all of it has happened. Raises: MaridError, Refused if it was not approved."""
        match result:
            case ToolOutput():
                return result
            case EditPlan():
                await self._apply_edit(spec, result, scope, state)
                return ToolOutput(text=result.text, values=result.values)
            case CommandPlan():
                return await self._execute_command(spec, result, scope, state)

    async def require_approval(self, spec: ToolSpec, preview: Preview, scope: CallScope, state: CallState) -> None:
        """Returns when a person says yes, or has said so before for good. Raises: Refused."""
        if (preview.always or preview.kind in _LASTING_KINDS) and await self._has_standing_grant(preview, scope):
            state.approval = "standing"
            return
        asking = QuestionBuilder(spec.name, state.args, scope.caller, state.call_id, scope.grant_scope)
        question = asking.build(preview)
        state.approval = question.id
        answer = await self.broker.ask(question, scope, grant_hint(preview))
        if answer is ApprovalAnswer.YES and preview.kind in _LASTING_KINDS:
            await self.threads.run(lambda: self.grants.add_grant(scope.grant_scope, preview.grant))

    async def _has_standing_grant(self, preview: Preview, scope: CallScope) -> bool:
        with suppress(Unavailable):  # then it is asked again
            return await self.threads.run(lambda: self.grants.has_grant(scope.grant_scope, preview.grant))
        return False

    async def _apply_edit(self, spec: ToolSpec, edit: EditPlan, scope: CallScope, state: CallState) -> None:
        changes = tuple(change for change in edit.changes if change.before != change.after)
        if not changes:
            return
        places = [change.path for change in changes]
        later = [
            f"'{quote_path(place.name)}' {why}"
            for place in places
            if (why := self.autorun_reason(place.qualified_name))
        ]
        state.verdict = _plan_verdict(spec, scope, state, Effect.WRITE)
        if later and not scope.policy.trusted:
            state.verdict = max(state.verdict, Verdict.ASK)
        if state.verdict is Verdict.ASK:
            preview = await self.threads.run(partial(edit_preview, spec, changes, later))
            await self.require_approval(spec, preview, scope, state)
        await scope.notify_effect(state.call_id)
        state.has_acted = True
        await self._commit_changes(spec, changes)

    async def _commit_changes(self, spec: ToolSpec, changes: Sequence[PlannedChange]) -> None:
        """To the end, once begun, whoever cancels: what is recorded is then what happened."""
        try:
            with anyio.CancelScope(shield=True):
                await self.threads.run(partial(self.commit, changes), self.commit_timeout)
        except TimeoutError as error:
            limit = f"{self.commit_timeout:g} s"
            raise Exhausted(
                f"'{spec.name}': writing takes longer than {limit}; look whether it has happened"
            ) from error

    async def _execute_command(
        self, spec: ToolSpec, plan: CommandPlan, scope: CallScope, call_state: CallState
    ) -> ToolOutput:
        state = await self.threads.run(self.sandbox_state)
        if _effect_verdict(spec, scope, Effect.NET) is Verdict.ALLOW:
            plan = replace(plan, network=True)
        call_state.verdict = _plan_verdict(
            spec, scope, call_state, Effect.EXEC, *((Effect.NET,) if plan.network else ())
        )
        if call_state.verdict is Verdict.ASK:
            await self.require_approval(spec, command_preview(spec, plan, state), scope, call_state)
        elif not state.confined:
            scope.emit(Notice(f"nothing confines the command: {state.reason or 'there is no sandbox here'}"))
        await scope.notify_effect(call_state.call_id)
        call_state.has_acted = True
        suffix = ".ps1" if "pwsh" in plan.argv[0] or "powershell" in plan.argv[0] else ".sh"
        await self.threads.run(partial(self.audit.save_script, plan.display, suffix))
        with anyio.move_on_after(plan.timeout + _GRACE_SECONDS):
            ran = await self.run_command(plan, scope, unconfined=not state.confined)
            return await self.threads.run(partial(plan.finish or _format_run, ran), spec.timeout)
        raise Exhausted(f"'{spec.name}': the command did not end")


def _plan_verdict(spec: ToolSpec, scope: CallScope, state: CallState, *effects: Effect) -> Verdict:
    """A plan may have more effects than its tool owns up to; all of them must be allowed."""
    verdict = max(
        Verdict.DENY if state.verdict is None else state.verdict,
        *(_effect_verdict(spec, scope, effect) for effect in effects),
    )
    if verdict is Verdict.DENY:
        raise Refused(f"'{spec.name}' is not allowed here: policy denies what it plans")
    return verdict


def _effect_verdict(spec: ToolSpec, scope: CallScope, effect: Effect) -> Verdict:
    """The network has to be allowed as such: a rule that lets a tool run says nothing about where it may connect to."""
    named = scope.policy.verdict(effect, *spec.names)
    return max(named, scope.policy.verdict(effect)) if effect is Effect.NET else named


def _format_run(ran: ProcessResult) -> ToolOutput:
    end = f"timed out after {ran.seconds:.0f}s" if ran.timed_out else f"EXIT CODE: {ran.status}"
    return ToolOutput(
        text=f"STDOUT:\n{ran.out}\nSTDERR:\n{ran.err}\n{end}",
        values={"exit_code": ran.status, "seconds": round(ran.seconds, 3), "timed_out": ran.timed_out},
    )
