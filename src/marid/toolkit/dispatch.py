"""Calling tools: every call runs through one pipeline of steps, each around the ones behind it."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias, TypeVar

from marid.core.policy.policy import Effect, Verdict
from marid.ports.audit import AuditLog
from marid.toolkit.call_scope import CallScope
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import BodyResult, Outcome, ToolFailure, ToolOutput
from marid.toolkit.questions import Preview
from marid.toolkit.spec import ToolSpec

T = TypeVar("T")


@dataclass(kw_only=True)
class CallState:
    """One call. Steps fill in what they find out; `args` are the caller's, `values` what the body is called with."""

    name: str
    args: Mapping[str, object]
    scope: CallScope
    call_id: str = ""
    max_bytes: int | None = None
    """The caller's own limit of the result; None is the usual one."""
    started_at: float = field(default_factory=time.time)
    start_counter: float = field(default_factory=time.perf_counter)
    spec: ToolSpec | None = None
    values: dict[str, object] = field(default_factory=dict[str, object])
    verdict: Verdict | None = None
    min_verdict: Verdict = Verdict.ALLOW
    """What hooks demand: the policy's verdict can only be stricter."""
    full_output: str | None = None
    """The output before it is clipped; only kept where hooks are registered."""
    approval: str = ""
    bug: BaseException | None = None
    has_acted: bool = False
    """Something was done that cannot be undone."""

    @property
    def tool(self) -> ToolSpec:
        """The tool that is called. Raises: LookupError in a step before the one that looks it up."""
        if self.spec is None:
            raise LookupError(f"'{self.name}' is not looked up yet")
        return self.spec

    @property
    def tool_name(self) -> str:
        """The tool's own name, or the name that was called where no tool has it."""
        return self.name if self.spec is None else self.spec.name


class WorkThreads(Protocol):
    """Where blocking work runs."""

    async def run(self, work: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ASYNC109 - it counts from when a thread takes the work
        """The result of `work`. Raises: what `work` raises, TimeoutError, Unavailable."""
        ...

    async def run_to_end(self, work: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ASYNC109 - as above
        """The same, but a cancelled caller waits for the end."""
        ...


class PlanHandler(Protocol):
    """Carries out what bodies plan, and asks for approval."""

    @property
    def threads(self) -> WorkThreads: ...

    @property
    def audit(self) -> AuditLog: ...

    async def execute(self, result: BodyResult, call: CallState) -> ToolOutput:
        """Carry out what the body of a call planned. Raises: MaridError, Refused if it was not approved."""
        ...

    async def require_approval(self, preview: Preview, call: CallState) -> None:
        """Return when a person approves, or has approved for good before. Raises: Refused."""
        ...


CallHandler: TypeAlias = Callable[[CallState], Awaitable[Outcome]]
CallStep: TypeAlias = Callable[[CallState, CallHandler], Awaitable[Outcome]]
"""Does its part and awaits the handler for the rest. Steps inside `ContainErrors` may raise."""


def build_pipeline(steps: Sequence[CallStep]) -> CallHandler:
    """One handler of these steps, the first outermost. The last one must not call its handler."""
    if not steps:
        return _end
    step, proceed = steps[0], build_pipeline(steps[1:])
    return lambda call: step(call, proceed)


async def _end(call: CallState) -> Outcome:
    raise LookupError(f"no step carries out '{call.name}'")


@dataclass(frozen=True, kw_only=True)
class Dispatcher:
    """Calls the tools of an inventory, for any number of callers at once."""

    inventory: Inventory
    steps: tuple[CallStep, ...]

    @cached_property
    def _handler(self) -> CallHandler:
        return build_pipeline(self.steps)

    def effect_of(self, name: str) -> Effect:
        """What the tool of that name or alias does. Raises: NotFound."""
        return self.inventory.find(name).effect

    async def call(
        self,
        name: str,
        args: Mapping[str, object],
        scope: CallScope,
        *,
        call_id: str = "",
        max_bytes: int | None = None,
    ) -> Outcome:
        """The outcome of one call. A repeated `call_id` finds its earlier answer. Raises only cancellation."""
        return await self._handler(CallState(name=name, args=args, scope=scope, call_id=call_id, max_bytes=max_bytes))

    async def call_all(self, calls: Sequence[tuple[str, Mapping[str, object]]], scope: CallScope) -> list[Outcome]:
        """Call tools by name and arguments, all at once; the outcomes are in the order of the calls."""
        import anyio  # imported when used: a single call may do without an event loop

        outcomes: list[Outcome] = [ToolFailure(code="internal", message="not called")] * len(calls)

        async def run_one(index: int) -> None:
            outcomes[index] = await self.call(*calls[index], scope)

        async with anyio.create_task_group() as group:
            for index in range(len(calls)):
                group.start_soon(run_one, index)
        return outcomes
