"""Calling tools: every call runs through the same steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import anyio

from marid.toolkit.availability import available_tools
from marid.toolkit.call_scope import CallScope
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import Outcome, ToolFailure
from marid.toolkit.pipeline import CallHandler, CallState, CallStep, build_pipeline
from marid.toolkit.spec import ToolSpec


@dataclass(frozen=True, kw_only=True)
class ToolInvocation:
    """One call of a batch. A call that is repeated with the same `id` finds the answer to its earlier question."""

    name: str
    args: Mapping[str, object]
    id: str = ""
    max_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Dispatcher:
    """Calls the tools of an inventory, for any number of callers at once."""

    inventory: Inventory
    steps: tuple[CallStep, ...]

    @cached_property
    def _handler(self) -> CallHandler:
        return build_pipeline(self.steps)

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
        """The outcome of one call. Raises only cancellation."""
        return await self._handler(CallState(name=name, args=args, scope=scope, call_id=call_id, max_bytes=max_bytes))

    async def call_all(self, calls: Sequence[ToolInvocation], scope: CallScope) -> list[Outcome]:
        """All at once; the outcomes in the order of the calls."""
        outcomes: list[Outcome] = [ToolFailure(code="internal", message="not called")] * len(calls)

        async def run_one(index: int, call: ToolInvocation) -> None:
            outcomes[index] = await self.call(call.name, call.args, scope, call_id=call.id, max_bytes=call.max_bytes)

        async with anyio.create_task_group() as group:
            for index, call in enumerate(calls):
                group.start_soon(run_one, index, call)
        return outcomes
