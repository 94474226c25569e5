"""The steps of a call. The composition root stacks them in the order in which they stand here."""

import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import iscoroutinefunction
from typing import cast

from marid.core.errors import BadInput, Exhausted, MaridError, OutsideRoots, Refused, Unavailable
from marid.core.events import Notice, ToolCalled
from marid.core.policy.policy import Effect, Verdict
from marid.ports.audit import AuditLog, AuditRecord
from marid.toolkit.dispatch import CallHandler, CallState, PlanHandler, WorkThreads
from marid.toolkit.hook_steps import check_access, check_fetch
from marid.toolkit.inventory import Inventory, dependencies_of, missing_port
from marid.toolkit.outcome import (
    MAX_OUTPUT_BYTES,
    BodyResult,
    Outcome,
    ResultLimit,
    ToolFailure,
    ToolOutput,
    clip_output,
)
from marid.toolkit.questions import call_preview, outside_preview
from marid.workspace.guard.api import PathScope

PLANNING_EFFECTS = frozenset({Effect.WRITE, Effect.EXEC})
"""Bodies of these effects only plan; the plan is what a person is asked about."""
# Reading changes nothing, and the executor reports a plan when it carries it out.
_DEFERRED_EFFECTS = PLANNING_EFFECTS | {Effect.READ}
MAX_OUTSIDE_PATHS = 8
"""How many paths outside the project one call may ask for."""


@dataclass(frozen=True)
class ShowNotices:
    """Shows the person, once, what happened at the start of the program."""

    notices: list[str]

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        while self.notices:
            await call.scope.emit(Notice(self.notices.pop(0)))
        return await proceed(call)


@dataclass(frozen=True)
class RecordCall:
    """Writes the audit record and emits the event of every call, cancelled ones included."""

    audit: AuditLog
    threads: WorkThreads

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        outcome: Outcome | None = None
        try:
            outcome = await proceed(call)
            return outcome
        finally:
            await self._write(call, outcome)

    async def _write(self, call: CallState, outcome: Outcome | None) -> None:
        """What changed something is on disk before the caller has its result; the rest may be buffered."""
        record = audit_record(call, outcome)
        write = partial(self.audit.record, record)
        problem = await self.threads.run_to_end(write) if record.durable else write()
        if problem is not None:
            await call.scope.emit(Notice(problem))
        await call.scope.emit(ToolCalled(record.tool, record.code, record.seconds, call.call_id))


def audit_record(call: CallState, outcome: Outcome | None) -> AuditRecord:
    """The record of a call; no outcome means that it was cancelled."""
    match outcome:
        case ToolOutput():
            code, message, size = "ok", "", len(outcome.text)
        case ToolFailure():
            code, message, size = outcome.code, outcome.message, 0
        case None:
            code, message, size = "cancelled", "", 0
    return AuditRecord(
        time=call.started_at,
        call=call.call_id,
        caller=call.scope.caller,
        tool=call.tool_name,
        effect=call.spec.effect.value if call.spec is not None else "",
        verdict=call.verdict.name.lower() if call.verdict is not None else "",
        approval=call.approval,
        code=code,
        message=message,
        seconds=time.perf_counter() - call.start_counter,
        size=size,
        args=call.args,
        trace=_trace(call.bug),
        durable=call.has_acted,
    )


def _trace(bug: BaseException | None) -> str:
    if bug is None:
        return ""
    import traceback  # imported when used: only a bug needs it

    return "".join(traceback.format_exception(bug))


@dataclass(frozen=True)
class ContainErrors:
    """Turns errors into values, here and nowhere else: a bug in one tool must not end the program.

    `strict` lets bugs through, for tests.
    """

    strict: bool = False

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        try:
            return await proceed(call)
        except MaridError as error:
            return ToolFailure(code=error.code, message=str(error))
        except Exception as error:
            if self.strict:
                raise
            call.bug = error
            message = f"'{call.tool_name}' failed: this is a bug; the session log has the details"
            return ToolFailure(code="internal", message=message)


@dataclass(frozen=True)
class Clip:
    """Cuts a result that is larger than the caller takes, unless the tool keeps to a limit itself."""

    max_bytes: int = MAX_OUTPUT_BYTES

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        outcome = await proceed(call)
        if not isinstance(outcome, ToolOutput) or ResultLimit in dependencies_of(call.tool).optional.values():
            return outcome
        return clip_output(outcome, call.max_bytes or self.max_bytes)


@dataclass(frozen=True)
class LookUp:
    """Finds the tool by its name or an alias, whose default arguments it adds."""

    inventory: Inventory

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        is_object = isinstance(cast("object", call.args), Mapping)  # a wire may bring anything
        if not is_object:
            call.args = {}
        call.spec = self.inventory.find(call.name)
        if not is_object:
            raise BadInput("arguments must be an object of names and values")
        call.args = call.spec.with_alias_defaults(call.name, call.args)
        return await proceed(call)


@dataclass(frozen=True)
class ParseArguments:
    """Parses the arguments; asks for a path outside the roots, and opens it to this call alone."""

    threads: WorkThreads
    executor: PlanHandler

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        with ExitStack() as opened:
            await self._parse(call, opened)
            return await proceed(call)

    async def _parse(self, call: CallState, opened: ExitStack) -> None:
        from marid.toolkit.params import tool_params  # imported when used: it brings pydantic

        asked: set[str] = set()
        while True:
            try:
                call.values = tool_params(call.tool).parse(call.args, call.scope.path_scope)
            except OutsideRoots as error:
                if error.path in asked or len(asked) == MAX_OUTSIDE_PATHS or not _can_ask_outside(call):
                    raise
                asked.add(error.path)
                path_scope = await self._ask_outside(call, error.path)
                opened.callback(path_scope.close)
                call.scope = replace(call.scope, path_scope=path_scope)
            else:
                return

    async def _ask_outside(self, call: CallState, path: str) -> PathScope:
        real = await self.threads.run(partial(os.path.realpath, path))
        if (hooks := call.scope.hooks) is not None:
            await check_access(hooks.pre_file_read, self.threads, call, (real, b""))
        preview = outside_preview(path, real, writes=call.tool.effect in PLANNING_EFFECTS)
        await self.executor.require_approval(preview, call)
        return await self.threads.run(partial(call.scope.path_scope.widen, path, real))


def _can_ask_outside(call: CallState) -> bool:
    return call.scope.policy.outside is Verdict.ASK and call.scope.verdict(call.tool) is not Verdict.DENY


async def judge(call: CallState, proceed: CallHandler) -> Outcome:
    """Ask the policy about the tool's effect. Raises: Refused for what it denies."""
    call.verdict = max(call.scope.verdict(call.tool), call.min_verdict)
    if call.verdict is Verdict.DENY:
        why = "read-only" if call.scope.policy.read_only else f"policy denies it ({call.tool.effect.value})"
        raise Refused(f"'{call.name}' is not allowed here: {why}")
    return await proceed(call)


async def inject_ports(call: CallState, proceed: CallHandler) -> Outcome:
    """Add the ports that the body takes. Raises: Unavailable for a required one that the caller does not have."""
    needs, services = dependencies_of(call.tool), call.scope.services
    if (port := missing_port(call.tool, call.scope)) is not None:
        reason = call.tool.unavailable or f"nothing provides {port.__name__}"
        raise Unavailable(f"'{call.tool.name}' is not available here: {reason}")
    ports = {**needs.required, **needs.optional}
    call.values |= {name: services[port] for name, port in ports.items() if port in services}
    return await proceed(call)


@dataclass(frozen=True)
class AskFirst:
    """Asks a person before the body, where the body is what happens. Plans are asked about when they are known."""

    executor: PlanHandler

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        spec = call.tool
        if spec.effect not in PLANNING_EFFECTS or spec.subject is not None:
            # Always evaluated: it refuses what must not even be asked about.
            subject = spec.subject(call.values) if spec.subject is not None else ""
            known = spec.effect is Effect.NET and call.scope.policy.is_known_host(subject)
            known = known and call.min_verdict is Verdict.ALLOW
            if spec.effect is Effect.NET and call.scope.hooks is not None:
                await check_fetch(call.scope.hooks, self.executor.threads, call, subject)
            if call.verdict is Verdict.ASK and not known:
                await self.executor.require_approval(call_preview(spec, call.args, subject), call)
        return await proceed(call)


@dataclass(frozen=True)
class CarryOut:
    """The last step: runs the body within its time limit, and what it plans."""

    threads: WorkThreads
    executor: PlanHandler

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        del proceed
        if call.tool.effect not in _DEFERRED_EFFECTS:
            await call.scope.notify_effect(call.call_id)
        output = await self.executor.execute(await self._run_body(call), call)
        for text in output.notices:
            await call.scope.emit(Notice(text))
        return output

    async def _run_body(self, call: CallState) -> BodyResult:
        spec = call.tool
        if iscoroutinefunction(spec.body):
            import anyio

            with anyio.move_on_after(spec.timeout):
                return await cast("Awaitable[BodyResult]", spec.body(**call.values))
        else:
            body = cast("Callable[[], BodyResult]", partial(spec.body, **call.values))
            with suppress(TimeoutError):
                return await self.threads.run(body, spec.timeout)
        raise Exhausted(f"'{spec.name}' timed out after {spec.timeout:g} s")
