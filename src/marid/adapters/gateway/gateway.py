"""The port Model for every provider on the network."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from marid.adapters.gateway.library_request import import_library
from marid.adapters.gateway.model_list import list_models
from marid.adapters.gateway.model_table import find_known_model
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.retry_policy import MAX_RETRIES, RetryPolicy
from marid.adapters.gateway.wire_log import WireLog
from marid.core.errors import NotFound, Unavailable
from marid.core.model_io import ModelInfo, ModelRequest, RetryScheduled
from marid.ports.budget import SpendingBudget
from marid.ports.model import OnModelEvent

if TYPE_CHECKING:
    from marid.adapters.gateway.attempt import Attempt

# An answer that was cancelled still says what it cost, to whoever listens for at most so long.
_LAST_EVENT_TIMEOUT = 1.0


@dataclass(frozen=True, kw_only=True)
class GatewayOptions:
    """What a gateway may use besides the network; `windows` are context windows that somebody set by hand."""

    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    budget: SpendingBudget | None = None
    wire_log: WireLog | None = None
    context_windows: Mapping[str, int] = field(default_factory=dict[str, int])


class Gateway:
    """The models of one provider."""

    def __init__(self, provider: Provider, options: GatewayOptions | None = None) -> None:
        self._provider = provider
        self._options = options or GatewayOptions()
        self._listed_windows: Mapping[str, int] = {}

    @property
    def provider(self) -> str:
        """As in the port."""
        return self._provider.id

    def warm(self) -> None:
        """Import the gateway library; takes seconds, so call it in a thread while other work goes on."""
        import_library(self._provider)

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        """As in the port."""
        await anyio.to_thread.run_sync(self.warm, abandon_on_cancel=True)
        from marid.adapters.gateway.attempt import Attempt, AttemptConfig, AttemptFailed  # imported when used

        setting = AttemptConfig(self._provider, self._options.retry_policy, self._options.wire_log)
        for failures in count():
            self._check_budget(request)
            exchange = Attempt(setting, request)
            try:
                await self._run_attempt(exchange, request, on_event)
            except AttemptFailed as broken:
                error, again, after = broken.failure
                if exchange.has_output or not again or failures == MAX_RETRIES:
                    raise error from broken
                if after is not None and after > self._options.retry_policy.max_retry_after:
                    raise Unavailable(f"{error}; it asks to be left alone for {after:,.0f} s") from broken
                wait = self._options.retry_policy.delay(failures, after)
                await on_event(RetryScheduled(failures + 2, round(wait, 1), str(error)))
                await self._options.retry_policy.sleep(wait)
            else:
                return

    async def models(self) -> tuple[ModelInfo, ...]:
        """As in the port."""
        models = await list_models(self._provider, self._options.retry_policy)
        self._listed_windows = {model.id: model.context_window for model in models}
        return models

    async def info(self, name: str) -> ModelInfo:
        """As in the port."""
        found = await anyio.to_thread.run_sync(find_known_model, self._provider, name)
        if found and found.context_window:
            return found
        for model in await self.models():
            if model.id == name:
                return model
        if found:
            return found
        raise NotFound(f"'{self._provider.host}' does not offer the model '{name}'")

    def context_window(self, name: str) -> int:
        """As in the port."""
        if window := self._options.context_windows.get(name):
            return window
        found = find_known_model(self._provider, name)
        return (found.context_window if found else 0) or self._listed_windows.get(name, 0)

    def _check_budget(self, request: ModelRequest) -> None:
        if self._options.budget:
            self._options.budget.ask(request)

    async def _run_attempt(self, exchange: "Attempt", request: ModelRequest, take: OnModelEvent) -> None:
        whole = False
        try:
            await exchange.run(take)
            whole = True
        finally:
            if whole or exchange.is_billable:
                await self._report_usage(exchange, request, take, whole=whole)

    async def _report_usage(
        self, exchange: "Attempt", request: ModelRequest, take: OnModelEvent, *, whole: bool
    ) -> None:
        usage = exchange.usage()
        if self._options.budget:
            self._options.budget.spend(request, usage)
        if not whole:
            with anyio.move_on_after(_LAST_EVENT_TIMEOUT, shield=True):
                await take(usage)
