"""The one road every call takes."""

import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, NamedTuple, Protocol, cast

import anyio

from marid.core.errors import BadInput, Exhausted, MaridError, OutsideRoots, Refused, Unavailable
from marid.core.events import Notice, ToolCalled
from marid.core.policy.policy import Effect, Verdict
from marid.ports.audit import AuditLog
from marid.toolkit.availability import available_tools
from marid.toolkit.call_scope import CallScope
from marid.toolkit.call_state import CallState, audit_record
from marid.toolkit.clip import MAX_OUTPUT_BYTES, clip_output
from marid.toolkit.dependencies import dependencies_of
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import BodyResult, Outcome, ToolFailure, ToolOutput
from marid.toolkit.plan_executor import PlanExecutor
from marid.toolkit.preview import call_preview, outside_preview
from marid.toolkit.spec import ToolSpec
from marid.toolkit.thread_pool import DaemonThreadPool

PLANNING_EFFECTS = frozenset({Effect.WRITE, Effect.EXEC})
"""Bodies of these effects only plan, and the plan is what is asked about."""
# Reading changes nothing, and a plan is told of when it is carried out.
_DEFERRED_EFFECTS = PLANNING_EFFECTS | {Effect.READ}
MAX_OUTSIDE_PATHS = 8
"""How many paths outside the project one call may ask for."""


@dataclass(frozen=True, kw_only=True)
class ToolInvocation:
    """One call of a batch. `id` is the caller's own name for it: asked again by it, it meets its earlier answer."""

    name: str
    args: Mapping[str, object]
    id: str = ""
    max_bytes: int | None = None


class HookDecision(NamedTuple):
    """What a hook says to a call: how strict to be, and other arguments in place of these, if any."""

    verdict: Verdict = Verdict.ALLOW
    args: Mapping[str, object] | None = None


class Hook(Protocol):
    """Looks at a call before policy does. One that raises has refused it."""

    async def __call__(self, spec: ToolSpec, args: Mapping[str, object], scope: CallScope) -> HookDecision:
        """What it says to it."""
        ...


@dataclass(frozen=True, kw_only=True)
class Dispatcher:
    """Calls tools for any number of callers at once. `strict` lets bugs through, for tests."""

    inventory: Inventory
    threads: DaemonThreadPool
    executor: PlanExecutor
    audit: AuditLog
    hooks: tuple[Hook, ...] = ()
    max_bytes: int = MAX_OUTPUT_BYTES
    strict: bool = False
    clock: Callable[[], float] = time.time

    def tools_for(self, scope: CallScope) -> list[ToolSpec]:
        """The tools that this caller may call or ask for, and whose ports it has."""
        return available_tools(self.inventory, scope)

    async def call(
        self,
        name: str,
        args: Mapping[str, object],
        scope: CallScope,
        *,
        call_id: str = "",
        max_bytes: int | None = None,
    ) -> Outcome:
        """What the call comes to. Raises nothing but cancellation."""
        return await self._call_and_record(ToolInvocation(name=name, args=args, id=call_id, max_bytes=max_bytes), scope)

    async def call_all(self, calls: Sequence[ToolInvocation], scope: CallScope) -> list[Outcome]:
        """All at once; the outcomes in the order of the calls, and no failure loses another's."""
        outcomes: list[Outcome] = [ToolFailure(code="internal", message="not called")] * len(calls)

        async def run_one(place: int, call: ToolInvocation) -> None:
            outcomes[place] = await self._call_and_record(call, scope)

        async with anyio.create_task_group() as group:
            for place, call in enumerate(calls):
                group.start_soon(run_one, place, call)
        return outcomes

    async def _call_and_record(self, call: ToolInvocation, scope: CallScope) -> Outcome:
        trip = CallState(call_id=call.id, name=call.name, started_at=self.clock(), start_counter=time.perf_counter())
        try:
            outcome = await self._catch_errors(call, scope, trip)
        except BaseException:
            await self._write_record(trip, None, scope)
            raise
        finally:
            for territory in trip.widened_scopes:
                territory.close()
        await self._write_record(trip, outcome, scope)
        return outcome

    async def _catch_errors(self, call: ToolInvocation, scope: CallScope, state: CallState) -> Outcome:
        """Here, and only here, errors become values. A bug in one tool must not end the program."""
        try:
            return clip_output(await self._run_stages(call, scope, state), call.max_bytes or self.max_bytes)
        except MaridError as error:
            return ToolFailure(code=error.code, message=str(error))
        except Exception as error:
            if self.strict:
                raise
            state.bug = error
            words = f"'{state.tool_name}' broke: this is a bug, and the session log has the details"
            return ToolFailure(code="internal", message=words)

    async def _run_stages(self, call: ToolInvocation, scope: CallScope, state: CallState) -> ToolOutput:
        spec = state.spec = self.inventory.find(call.name)
        values = await self._parse_and_judge(spec, call, scope, state)
        if state.verdict is Verdict.DENY:
            why = "it is read-only" if scope.policy.read_only else f"policy denies it ({spec.effect.value})"
            raise Refused(f"'{call.name}' is not allowed here: {why}")
        if state.widened_scopes:
            scope = replace(scope, path_scope=state.widened_scopes[-1])
        given = {**values, **_port_arguments(spec, scope)}
        if spec.effect not in PLANNING_EFFECTS or spec.subject is not None:
            await self._ask_before_body(spec, given, scope, state)
        if spec.effect not in _DEFERRED_EFFECTS:
            await scope.notify_effect(state.call_id)
        return await self.executor.execute(spec, await self._run_body(spec, given), scope, state)

    async def _parse_and_judge(
        self, spec: ToolSpec, call: ToolInvocation, scope: CallScope, state: CallState
    ) -> dict[str, object]:
        """The values of the arguments. What a hook made of the arguments is parsed like any other."""
        values = await self._parse_args(spec, _args_with_defaults(spec, call), scope, state)
        verdict = scope.policy.verdict(spec.effect, *spec.names)
        for hook in self.hooks:
            opinion = await hook(spec, state.args, scope)
            verdict = max(verdict, opinion.verdict)
            if opinion.args is not None:
                values = await self._parse_args(spec, opinion.args, scope, state)
        state.verdict = verdict
        return values

    async def _parse_args(self, spec: ToolSpec, args: object, scope: CallScope, state: CallState) -> dict[str, object]:
        if not isinstance(args, Mapping):
            raise BadInput("arguments must be an object of names and values")
        from marid.toolkit.params import tool_params  # imported when used: it brings pydantic

        state.args = dict(cast("Mapping[str, object]", args))
        territory = state.widened_scopes[-1] if state.widened_scopes else scope.path_scope
        asked: set[str] = set()
        while True:
            try:
                return tool_params(spec).parse(state.args, territory)
            except OutsideRoots as error:
                if error.path in asked or len(asked) == MAX_OUTSIDE_PATHS or not _can_ask_outside(spec, scope):
                    raise
                asked.add(error.path)
                real = await self.threads.run(partial(os.path.realpath, error.path))
                preview = outside_preview(error.path, real, writes=spec.effect in PLANNING_EFFECTS)
                await self.executor.require_approval(spec, preview, scope, state)
                territory = await self.threads.run(partial(territory.widen, error.path, real))
                state.widened_scopes.append(territory)

    async def _ask_before_body(
        self, spec: ToolSpec, given: Mapping[str, Any], scope: CallScope, state: CallState
    ) -> None:
        """`about` is asked in any case: it refuses what nobody needs to be asked about."""
        about = spec.subject(given) if spec.subject is not None else ""
        if state.verdict is Verdict.ASK and not (spec.effect is Effect.NET and scope.policy.is_known_host(about)):
            await self.executor.require_approval(spec, call_preview(spec, state.args, about), scope, state)

    async def _run_body(self, spec: ToolSpec, given: Mapping[str, Any]) -> BodyResult:
        if iscoroutinefunction(spec.body):
            with anyio.move_on_after(spec.timeout):
                return await cast("Awaitable[BodyResult]", spec.body(**given))
        else:
            with suppress(TimeoutError):
                return await self.threads.run(
                    cast("Callable[[], BodyResult]", partial(spec.body, **given)), spec.timeout
                )
        raise Exhausted(f"'{spec.name}' took longer than {spec.timeout:g} s and was given up")

    async def _write_record(self, state: CallState, outcome: Outcome | None, scope: CallScope) -> None:
        """What changed something is on the disk before the caller hears of it; the rest may wait for the disk."""
        record = audit_record(state, outcome, scope)
        problem: str | None = None
        if record.durable:
            with anyio.CancelScope(shield=True):
                problem = await self.threads.run(partial(self.audit.record, record))
        else:
            problem = self.audit.record(record)
        if problem is not None:
            scope.emit(Notice(problem))
        scope.emit(ToolCalled(record.tool, record.code, record.seconds))


def _can_ask_outside(spec: ToolSpec, scope: CallScope) -> bool:
    denied = scope.policy.verdict(spec.effect, *spec.names) is Verdict.DENY
    return scope.policy.outside is Verdict.ASK and not denied


def _args_with_defaults(spec: ToolSpec, call: ToolInvocation) -> object:
    args = cast("object", call.args)  # typed otherwise, but a wire may bring anything
    return spec.with_alias_defaults(call.name, call.args) if isinstance(args, Mapping) else args


def _port_arguments(spec: ToolSpec, scope: CallScope) -> dict[str, object]:
    needs = dependencies_of(spec)
    for port in needs.required.values():
        if port not in scope.services:
            raise Unavailable(f"'{spec.name}' is not available here: nothing provides {port.__name__}")
    ports = {**needs.required, **needs.optional}
    return {name: scope.services[port] for name, port in ports.items() if port in scope.services}
