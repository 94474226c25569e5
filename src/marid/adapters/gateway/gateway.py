"""The port Model for every provider on the network."""

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING

import anyio

from marid.adapters.gateway.model_list import list_models
from marid.adapters.gateway.options import MAX_RETRIES, GatewayOptions
from marid.adapters.gateway.providers import Provider, find_known_model
from marid.core.errors import NotFound, Unavailable
from marid.core.model_io import ModelInfo, ModelRequest, RetryScheduled
from marid.ports.model import OnModelEvent
from marid.toolkit.thread_pool import DaemonThreadPool

if TYPE_CHECKING:
    from marid.adapters.gateway.attempt import Attempt

# A cancelled answer still reports what it cost; the listener gets this long to take that.
_LAST_EVENT_TIMEOUT = 1.0


class Gateway:
    """The models of one provider; slow imports run in `threads`."""

    def __init__(
        self, provider: Provider, options: GatewayOptions | None = None, threads: DaemonThreadPool | None = None
    ) -> None:
        self._provider = provider
        self.provider = provider.id
        self._options = options or GatewayOptions()
        self._threads = threads or DaemonThreadPool()
        self._listed_windows: Mapping[str, int] = {}

    def warm(self) -> None:
        """Import the gateway library; takes seconds, so call it in a thread while other work goes on."""
        import_library(self._provider)

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        await self._threads.run(self.warm)
        from marid.adapters.gateway.attempt import Attempt, AttemptFailed  # brings the gateway library

        policy = self._options.retry_policy
        for failures in count():
            attempt = Attempt(self._provider, self._options, request)
            try:
                await self._run_attempt(attempt, on_event)
            except AttemptFailed as broken:
                error, can_retry, retry_after = broken.failure
                if attempt.has_output or not can_retry or failures == MAX_RETRIES:
                    raise error from broken
                if retry_after is not None and retry_after > policy.max_retry_after:
                    raise Unavailable(f"{error}; it asks to wait {retry_after:,.0f} s") from broken
                wait = policy.delay(failures, retry_after)
                await on_event(RetryScheduled(failures + 2, round(wait, 1), str(error)))
                await policy.sleep(wait)
            else:
                return

    async def models(self) -> tuple[ModelInfo, ...]:
        models = await list_models(self._provider, self._options.retry_policy)
        self._listed_windows = {model.id: model.context_window for model in models}
        return models

    async def info(self, name: str) -> ModelInfo:
        known = await self._threads.run(lambda: find_known_model(self._provider, name))
        if known and known.context_window:
            return known
        for model in await self.models():
            if model.id == name:
                return model
        if known:
            return known
        raise NotFound(f"'{self._provider.host}' has no model '{name}'")

    def context_window(self, name: str) -> int:
        if window := self._options.context_windows.get(name):
            return window
        known = find_known_model(self._provider, name)
        return (known.context_window if known else 0) or self._listed_windows.get(name, 0)

    async def _run_attempt(self, attempt: "Attempt", on_event: OnModelEvent) -> None:
        try:
            await attempt.run(on_event)
        except BaseException:
            if attempt.is_billable:
                with anyio.move_on_after(_LAST_EVENT_TIMEOUT, shield=True):
                    await on_event(attempt.usage())
            raise
