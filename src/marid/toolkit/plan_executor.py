"""Carrying out what a tool planned: judged by its plan, approved, and then done once."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import anyio

from marid.core.errors import Exhausted, Refused, Unavailable
from marid.core.events import Notice
from marid.core.policy.approval import ApprovalAnswer, Question, QuestionKind
from marid.core.policy.policy import Effect, Verdict
from marid.ports.approvals import StandingGrants
from marid.ports.audit import AuditLog
from marid.ports.processes import SandboxState
from marid.text.display import quote_path
from marid.toolkit.approval_broker import ApprovalBroker
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dispatch import CallState
from marid.toolkit.hook_steps import check_access
from marid.toolkit.outcome import BodyResult, CommandPlan, EditPlan, PlannedChange, ProcessResult, ToolOutput
from marid.toolkit.questions import Preview, command_preview, content_digest, edit_preview
from marid.toolkit.spec import ToolSpec
from marid.toolkit.thread_pool import DaemonThreadPool

# A yes to these is kept: a person is asked about a host or a path once.
_LASTING_KINDS = frozenset({QuestionKind.FETCH, QuestionKind.OUTSIDE})
COMMIT_TIMEOUT = 60.0
# Added to a command's own limit, which the runner keeps: this one ends a runner that hangs.
_GRACE_SECONDS = 30.0


class CommandRunner(Protocol):
    """Starts commands. `unconfined`: the approval covers running without a sandbox."""

    async def __call__(self, plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
        """The result of the command, which has ended when this returns, also on cancellation. Raises: MaridError."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanExecutor:
    """`commit` writes all changes or none; `autorun_reason` says why a name is dangerous to write, "" if it is not.

    Commands have the network where policy allows it without a question.
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

    async def execute(self, result: BodyResult, call: CallState) -> ToolOutput:
        """Carry out what the body of a call planned. Raises: MaridError, Refused if it was not approved."""
        match result:
            case ToolOutput():
                return result
            case EditPlan():
                await self._apply_edit(result, call)
                return ToolOutput(text=result.text, values=result.values)
            case CommandPlan():
                return await self._execute_command(result, call)

    async def require_approval(self, preview: Preview, call: CallState) -> None:
        """Return when a person approves, or has approved for good before. Raises: Refused."""
        scope = call.scope
        if (preview.always or preview.kind in _LASTING_KINDS) and await self._has_standing_grant(preview, scope):
            call.approval = "standing"
            return
        question = build_question(preview, call)
        call.approval = question.id
        answer = await self.broker.ask(question, scope, preview.grant_hint, call.call_id)
        if answer is ApprovalAnswer.YES and preview.kind in _LASTING_KINDS:
            await self.threads.run(lambda: self.grants.add_grant(scope.grant_scope, preview.grant, question.covers))

    async def _has_standing_grant(self, preview: Preview, scope: CallScope) -> bool:
        with suppress(Unavailable):  # then the person is asked again
            return await self.threads.run(lambda: self.grants.has_grant(scope.grant_scope, preview.grant))
        return False

    async def _apply_edit(self, edit: EditPlan, call: CallState) -> None:
        changes = tuple(change for change in edit.changes if change.before != change.after)
        if not changes:
            return
        reasons = [(one.path.name, self.autorun_reason(one.path.qualified_name)) for one in changes]
        autorun = [f"'{quote_path(name)}' {reason}" for name, reason in reasons if reason]
        if (hooks := call.scope.hooks) is not None:
            writes = [(f"{one.path.root.path}/{one.path.name}", one.after) for one in changes]
            await check_access(hooks.pre_file_write, self.threads, call, *writes)
        call.verdict = _plan_verdict(call, Effect.WRITE)
        if autorun and not call.scope.policy.trusted:
            call.verdict = max(call.verdict, Verdict.ASK)
        if call.verdict is Verdict.ASK:
            preview = await self.threads.run(partial(edit_preview, call.tool, changes, autorun))
            await self.require_approval(preview, call)
        await call.scope.notify_effect(call.call_id)
        call.has_acted = True
        await self._commit_changes(call.tool, changes)

    async def _commit_changes(self, spec: ToolSpec, changes: Sequence[PlannedChange]) -> None:
        """Shielded: once begun, the changes are written to the end, so that the record is what happened."""
        try:
            await self.threads.run_to_end(partial(self.commit, changes), self.commit_timeout)
        except TimeoutError as error:
            limit = f"{self.commit_timeout:g} s"
            raise Exhausted(f"'{spec.name}': writing timed out after {limit}; check whether it happened") from error

    async def _execute_command(self, plan: CommandPlan, call: CallState) -> ToolOutput:
        spec, scope = call.tool, call.scope
        if scope.hooks is not None:
            await check_access(scope.hooks.pre_shell_exec, self.threads, call, (plan.display, b""))
        sandbox = await self.threads.run(self.sandbox_state)
        if _effect_verdict(call, Effect.NET) is Verdict.ALLOW:
            plan = plan._replace(network=True)
        call.verdict = _plan_verdict(call, Effect.EXEC, *((Effect.NET,) if plan.network else ()))
        if call.verdict is Verdict.ASK:
            await self.require_approval(command_preview(spec, plan, sandbox), call)
        elif not sandbox.confined:
            await scope.emit(Notice(f"the command runs without a sandbox: {sandbox.reason or 'none is available'}"))
        await scope.notify_effect(call.call_id)
        call.has_acted = True
        suffix = ".ps1" if "pwsh" in plan.argv[0] or "powershell" in plan.argv[0] else ".sh"
        await self.threads.run(partial(self.audit.save_script, plan.display, suffix))
        with anyio.move_on_after(plan.timeout + _GRACE_SECONDS):
            ran = await self.run_command(plan, scope, unconfined=not sandbox.confined)
            done = await self.threads.run(partial(plan.finish or _format_run, ran), spec.timeout)
            return _with_notes(done, ran.notes)
        raise Exhausted(f"'{spec.name}': the command did not end")


def build_question(preview: Preview, call: CallState) -> Question:
    """With no times yet. The same call of the same caller, with the same plan, asks by the same id after a restart."""
    tool, scope = call.tool.name, call.scope
    hashed = _digest([tool, call.args, preview.kind.value, preview.plan])
    return Question(
        id=_digest([scope.caller, call.call_id, hashed])[:26],
        kind=preview.kind,
        tool=tool,
        caller=scope.caller,
        text=preview.text,
        hash=hashed,
        created=0.0,
        expires=0.0,
        always=preview.always,
        scope=scope.grant_scope,
        grant=preview.grant,
        covers=f"{preview.covers}, in this {'conversation' if scope.caller.conversation else 'run'}",
    )


def _digest(values: object) -> str:
    return content_digest(json.dumps(values, sort_keys=True, default=repr).encode())


def _plan_verdict(call: CallState, *effects: Effect) -> Verdict:
    """A plan may have more effects than its tool declares; all of them must be allowed."""
    judged = Verdict.DENY if call.verdict is None else call.verdict
    verdict = max(judged, *(_effect_verdict(call, effect) for effect in effects))
    if verdict is Verdict.DENY:
        raise Refused(f"'{call.tool.name}' is not allowed here: policy denies what it plans")
    return verdict


def _effect_verdict(call: CallState, effect: Effect) -> Verdict:
    """The network must be allowed as such: a rule that lets a tool run does not say where it may connect to."""
    policy = call.scope.policy
    named = policy.verdict(effect, *call.tool.names)
    return max(named, policy.verdict(effect)) if effect is Effect.NET else named


def _with_notes(done: ToolOutput, notes: Sequence[str]) -> ToolOutput:
    """The result, with what the model must know about it."""
    if not notes:
        return done
    text = "\n".join((done.text.rstrip("\n"), *(f"NOTE: {note}" for note in notes)))
    return replace(done, text=text, values={**done.values, "notes": list(notes)})


def _format_run(ran: ProcessResult) -> ToolOutput:
    end = f"timed out after {ran.seconds:.0f}s" if ran.timed_out else f"EXIT CODE: {ran.status}"
    return ToolOutput(
        text=f"STDOUT:\n{ran.out}\nSTDERR:\n{ran.err}\n{end}",
        values={"exit_code": ran.status, "seconds": round(ran.seconds, 3), "timed_out": ran.timed_out},
    )
