"""Carrying out what a tool has planned: judged with the plan in hand, asked for, and then done once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import anyio

from marid.core.approval import Answer, Kind
from marid.core.errors import Exhausted, Refused, Unavailable
from marid.core.events import Note
from marid.core.policy import Effect, Verdict
from marid.ports.approvals import Standing
from marid.ports.audit import Audit
from marid.ports.processes import SandboxState
from marid.text.visible import shown_path
from marid.toolkit.asking import Asking, hint
from marid.toolkit.desk import Desk
from marid.toolkit.outcome import Change, Done, Edit, Ran, Result, Run
from marid.toolkit.preview import Preview, command_preview, edit_preview
from marid.toolkit.recording import Trip
from marid.toolkit.scope import Scope
from marid.toolkit.spec import ToolSpec
from marid.toolkit.threads import Threads

# A yes to these holds on: a host or a path is asked for once.
_LASTING = frozenset({Kind.FETCH, Kind.OUTSIDE})
COMMIT_SECONDS = 60.0
# Beyond a command's own limit, which the runner keeps: only a runner that hangs is met by this.
_GRACE_SECONDS = 30.0


class Runner(Protocol):
    """Starts commands. `unconfined`: whoever said yes knew that there is no sandbox."""

    async def __call__(self, plan: Run, scope: Scope, *, unconfined: bool) -> Ran:
        """What the command left; it has ended when this returns, also by cancelling. Raises: MaridError."""
        ...


@dataclass(frozen=True, kw_only=True)
class Deeds:
    """`commit` writes all changes or none, `runs_later` says why a name is dangerous to write ("": it is not), and
    `confined` whether commands run in a sandbox. Where policy allows the network without a question, they have it.
    """

    threads: Threads
    desk: Desk
    standing: Standing
    audit: Audit
    commit: Callable[[Sequence[Change]], None]
    run: Runner
    runs_later: Callable[[str], str]
    confined: Callable[[], SandboxState]
    commit_seconds: float = COMMIT_SECONDS

    async def done(self, spec: ToolSpec, result: Result, scope: Scope, trip: Trip) -> Done:
        """The result, once all of it has happened. Raises: MaridError, Refused if it was not approved."""
        match result:
            case Done():
                return result
            case Edit():
                await self._edited(spec, result, scope, trip)
                return Done(text=result.text, values=result.values)
            case Run():
                return await self._ran(spec, result, scope, trip)

    async def approved(self, spec: ToolSpec, preview: Preview, scope: Scope, trip: Trip) -> None:
        """Returns when a person says yes, or has said so before for good. Raises: Refused."""
        if (preview.always or preview.kind in _LASTING) and await self._stands(preview, scope):
            trip.approval = "standing"
            return
        asking = Asking(spec.name, trip.args, scope.caller, trip.call, scope.standing)
        question = asking.question(preview)
        trip.approval = question.id
        answer = await self.desk.ask(question, scope, hint(preview))
        if answer is Answer.YES and preview.kind in _LASTING:
            await self.threads.run(lambda: self.standing.keep(scope.standing, preview.grant))

    async def _stands(self, preview: Preview, scope: Scope) -> bool:
        with suppress(Unavailable):  # then it is asked again
            return await self.threads.run(lambda: self.standing.kept(scope.standing, preview.grant))
        return False

    async def _edited(self, spec: ToolSpec, edit: Edit, scope: Scope, trip: Trip) -> None:
        changes = tuple(change for change in edit.changes if change.before != change.after)
        if not changes:
            return
        places = [change.place for change in changes]
        later = [f"'{shown_path(place.name)}' {why}" for place in places if (why := self.runs_later(place.kin))]
        trip.verdict = _judged(spec, scope, trip, Effect.WRITE)
        if later and not scope.policy.trusted:
            trip.verdict = max(trip.verdict, Verdict.ASK)
        if trip.verdict is Verdict.ASK:
            preview = await self.threads.run(partial(edit_preview, spec, changes, later))
            await self.approved(spec, preview, scope, trip)
        await scope.starts(trip.call)
        trip.acted = True
        await self._committed(spec, changes)

    async def _committed(self, spec: ToolSpec, changes: Sequence[Change]) -> None:
        """To the end, once begun, whoever cancels: what is recorded is then what happened."""
        try:
            with anyio.CancelScope(shield=True):
                await self.threads.run(partial(self.commit, changes), self.commit_seconds)
        except TimeoutError as error:
            limit = f"{self.commit_seconds:g} s"
            raise Exhausted(
                f"'{spec.name}': writing takes longer than {limit}; look whether it has happened"
            ) from error

    async def _ran(self, spec: ToolSpec, plan: Run, scope: Scope, trip: Trip) -> Done:
        state = await self.threads.run(self.confined)
        if _verdict(spec, scope, Effect.NET) is Verdict.ALLOW:
            plan = replace(plan, network=True)
        trip.verdict = _judged(spec, scope, trip, Effect.EXEC, *((Effect.NET,) if plan.network else ()))
        if trip.verdict is Verdict.ASK:
            await self.approved(spec, command_preview(spec, plan, state), scope, trip)
        elif not state.confined:
            scope.emit(Note(f"nothing confines the command: {state.reason or 'there is no sandbox here'}"))
        await scope.starts(trip.call)
        trip.acted = True
        suffix = ".ps1" if "pwsh" in plan.argv[0] or "powershell" in plan.argv[0] else ".sh"
        await self.threads.run(partial(self.audit.script, plan.shown, suffix))
        with anyio.move_on_after(plan.seconds + _GRACE_SECONDS):
            ran = await self.run(plan, scope, unconfined=not state.confined)
            return await self.threads.run(partial(plan.finish or _report, ran), spec.seconds)
        raise Exhausted(f"'{spec.name}': the command did not end")


def _judged(spec: ToolSpec, scope: Scope, trip: Trip, *effects: Effect) -> Verdict:
    """A plan may have more effects than its tool owns up to; all of them must be allowed."""
    verdict = max(
        Verdict.DENY if trip.verdict is None else trip.verdict,
        *(_verdict(spec, scope, effect) for effect in effects),
    )
    if verdict is Verdict.DENY:
        raise Refused(f"'{spec.name}' is not allowed here: policy denies what it plans")
    return verdict


def _verdict(spec: ToolSpec, scope: Scope, effect: Effect) -> Verdict:
    """The network has to be allowed as such: a rule that lets a tool run says nothing about where it may connect to."""
    named = scope.policy.verdict(effect, *spec.names)
    return max(named, scope.policy.verdict(effect)) if effect is Effect.NET else named


def _report(ran: Ran) -> Done:
    end = f"timed out after {ran.seconds:.0f}s" if ran.timed_out else f"EXIT CODE: {ran.status}"
    return Done(
        text=f"STDOUT:\n{ran.out}\nSTDERR:\n{ran.err}\n{end}",
        values={"exit_code": ran.status, "seconds": round(ran.seconds, 3), "timed_out": ran.timed_out},
    )
