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

from marid.core.errors import BadInput, Exhausted, MaridError, Outside, Refused, Unavailable
from marid.core.events import Called, Note
from marid.core.policy import Effect, Verdict
from marid.ports.audit import Audit
from marid.toolkit.clip import MOST_BYTES, clipped
from marid.toolkit.deeds import Deeds
from marid.toolkit.inventory import Inventory
from marid.toolkit.needs import needs_of
from marid.toolkit.offer import offered
from marid.toolkit.outcome import Done, Failed, Outcome, Result
from marid.toolkit.preview import call_preview, outside_preview
from marid.toolkit.recording import Trip, record_of
from marid.toolkit.scope import Scope
from marid.toolkit.spec import ToolSpec
from marid.toolkit.threads import Threads

PLANS = frozenset({Effect.WRITE, Effect.EXEC})
"""Bodies of these effects only plan, and the plan is what is asked about."""
# Reading changes nothing, and a plan is told of when it is carried out.
_ACT_LATER = PLANS | {Effect.READ}
MOST_OUTSIDE = 8
"""How many paths outside the project one call may ask for."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a batch. `id` is the caller's own name for it: asked again by it, it meets its earlier answer."""

    name: str
    args: Mapping[str, object]
    id: str = ""
    cap: int | None = None


class Opinion(NamedTuple):
    """What a hook says to a call: how strict to be, and other arguments in place of these, if any."""

    verdict: Verdict = Verdict.ALLOW
    args: Mapping[str, object] | None = None


class Hook(Protocol):
    """Looks at a call before policy does. One that raises has refused it."""

    async def __call__(self, spec: ToolSpec, args: Mapping[str, object], scope: Scope) -> Opinion:
        """What it says to it."""
        ...


@dataclass(frozen=True, kw_only=True)
class Dispatcher:
    """Calls tools for any number of callers at once. `strict` lets bugs through, for tests."""

    inventory: Inventory
    threads: Threads
    deeds: Deeds
    audit: Audit
    hooks: tuple[Hook, ...] = ()
    cap: int = MOST_BYTES
    strict: bool = False
    clock: Callable[[], float] = time.time

    def offered(self, scope: Scope) -> list[ToolSpec]:
        """The tools that this caller may call or ask for, and whose ports it has."""
        return offered(self.inventory, scope)

    async def call(
        self, name: str, args: Mapping[str, object], scope: Scope, *, call_id: str = "", cap: int | None = None
    ) -> Outcome:
        """What the call comes to. Raises nothing but cancellation."""
        return await self._called(Call(name=name, args=args, id=call_id, cap=cap), scope)

    async def call_all(self, calls: Sequence[Call], scope: Scope) -> list[Outcome]:
        """All at once; the outcomes in the order of the calls, and no failure loses another's."""
        outcomes: list[Outcome] = [Failed(code="internal", message="not called")] * len(calls)

        async def one(place: int, call: Call) -> None:
            outcomes[place] = await self._called(call, scope)

        async with anyio.create_task_group() as group:
            for place, call in enumerate(calls):
                group.start_soon(one, place, call)
        return outcomes

    async def _called(self, call: Call, scope: Scope) -> Outcome:
        trip = Trip(call=call.id, name=call.name, started=self.clock(), since=time.perf_counter())
        try:
            outcome = await self._outcome(call, scope, trip)
        except BaseException:
            await self._recorded(trip, None, scope)
            raise
        finally:
            for territory in trip.widened:
                territory.close()
        await self._recorded(trip, outcome, scope)
        return outcome

    async def _outcome(self, call: Call, scope: Scope, trip: Trip) -> Outcome:
        """Here, and only here, errors become values. A bug in one tool must not end the program."""
        try:
            return clipped(await self._road(call, scope, trip), call.cap or self.cap)
        except MaridError as error:
            return Failed(code=error.code, message=str(error))
        except Exception as error:
            if self.strict:
                raise
            trip.bug = error
            words = f"'{trip.tool}' broke: this is a bug, and the session log has the details"
            return Failed(code="internal", message=words)

    async def _road(self, call: Call, scope: Scope, trip: Trip) -> Done:
        spec = trip.spec = self.inventory.find(call.name)
        values = await self._judged(spec, call, scope, trip)
        if trip.verdict is Verdict.DENY:
            why = "it is read-only" if scope.policy.read_only else f"policy denies it ({spec.effect.value})"
            raise Refused(f"'{call.name}' is not allowed here: {why}")
        if trip.widened:
            scope = replace(scope, territory=trip.widened[-1])
        given = {**values, **_injected(spec, scope)}
        if spec.effect not in PLANS or spec.about is not None:
            await self._ask_first(spec, given, scope, trip)
        if spec.effect not in _ACT_LATER:
            await scope.starts(trip.call)
        return await self.deeds.done(spec, await self._body(spec, given), scope, trip)

    async def _judged(self, spec: ToolSpec, call: Call, scope: Scope, trip: Trip) -> dict[str, object]:
        """The values of the arguments. What a hook made of the arguments is parsed like any other."""
        values = await self._parsed(spec, _expected(spec, call), scope, trip)
        verdict = scope.policy.verdict(spec.effect, *spec.names)
        for hook in self.hooks:
            opinion = await hook(spec, trip.args, scope)
            verdict = max(verdict, opinion.verdict)
            if opinion.args is not None:
                values = await self._parsed(spec, opinion.args, scope, trip)
        trip.verdict = verdict
        return values

    async def _parsed(self, spec: ToolSpec, args: object, scope: Scope, trip: Trip) -> dict[str, object]:
        if not isinstance(args, Mapping):
            raise BadInput("arguments must be an object of names and values")
        from marid.toolkit.form import form  # imported when used: it brings pydantic

        trip.args = dict(cast("Mapping[str, object]", args))
        territory = trip.widened[-1] if trip.widened else scope.territory
        asked: set[str] = set()
        while True:
            try:
                return form(spec).parse(trip.args, territory)
            except Outside as error:
                if error.path in asked or len(asked) == MOST_OUTSIDE or not _may_ask_outside(spec, scope):
                    raise
                asked.add(error.path)
                real = await self.threads.run(partial(os.path.realpath, error.path))
                preview = outside_preview(error.path, real, writes=spec.effect in PLANS)
                await self.deeds.approved(spec, preview, scope, trip)
                territory = await self.threads.run(partial(territory.widened, error.path, real))
                trip.widened.append(territory)

    async def _ask_first(self, spec: ToolSpec, given: Mapping[str, Any], scope: Scope, trip: Trip) -> None:
        """`about` is asked in any case: it refuses what nobody needs to be asked about."""
        about = spec.about(given) if spec.about is not None else ""
        if trip.verdict is Verdict.ASK and not (spec.effect is Effect.NET and scope.policy.knows(about)):
            await self.deeds.approved(spec, call_preview(spec, trip.args, about), scope, trip)

    async def _body(self, spec: ToolSpec, given: Mapping[str, Any]) -> Result:
        if iscoroutinefunction(spec.body):
            with anyio.move_on_after(spec.seconds):
                return await cast("Awaitable[Result]", spec.body(**given))
        else:
            with suppress(TimeoutError):
                return await self.threads.run(cast("Callable[[], Result]", partial(spec.body, **given)), spec.seconds)
        raise Exhausted(f"'{spec.name}' took longer than {spec.seconds:g} s and was given up")

    async def _recorded(self, trip: Trip, outcome: Outcome | None, scope: Scope) -> None:
        """What changed something is on the disk before the caller hears of it; the rest may wait for the disk."""
        record = record_of(trip, outcome, scope)
        problem: str | None = None
        if record.durable:
            with anyio.CancelScope(shield=True):
                problem = await self.threads.run(partial(self.audit.record, record))
        else:
            problem = self.audit.record(record)
        if problem is not None:
            scope.emit(Note(problem))
        scope.emit(Called(record.tool, record.code, record.seconds))


def _may_ask_outside(spec: ToolSpec, scope: Scope) -> bool:
    denied = scope.policy.verdict(spec.effect, *spec.names) is Verdict.DENY
    return scope.policy.outside is Verdict.ASK and not denied


def _expected(spec: ToolSpec, call: Call) -> object:
    args = cast("object", call.args)  # typed otherwise, but a wire may bring anything
    return spec.expected(call.name, call.args) if isinstance(args, Mapping) else args


def _injected(spec: ToolSpec, scope: Scope) -> dict[str, object]:
    needs = needs_of(spec)
    for port in needs.needed.values():
        if port not in scope.services:
            raise Unavailable(f"'{spec.name}' is not available here: nothing provides {port.__name__}")
    ports = {**needs.needed, **needs.wanted}
    return {name: scope.services[port] for name, port in ports.items() if port in scope.services}
