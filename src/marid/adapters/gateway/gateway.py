"""The port Model for every provider on the network."""

import logging
import re
import warnings
from collections.abc import Mapping
from importlib import import_module
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio

from marid.adapters.gateway.options import MAX_RETRIES, GatewayOptions
from marid.adapters.gateway.providers import Provider, find_known_model
from marid.core.errors import NotFound, Unavailable
from marid.core.model_io import ModelInfo, ModelRequest, RetryScheduled
from marid.ports.model import OnModelEvent

if TYPE_CHECKING:
    from marid.adapters.gateway.attempt import Attempt

_MODULES = MappingProxyType(
    {
        "openai": ("models.openai", "providers.openai_compatible", "providers.openai"),
        "openrouter": ("models.openrouter",),
        "anthropic": ("models.anthropic",),
        "google": ("models.google",),
    }
)
# Filters that stay: catching warnings around a request would catch those of all threads. Warnings about the source
# of a library, when a newer Python compiles it for the first time, come under the name of its file.
_WARNING_MODULES = r"(?:pydantic_ai|openai|anthropic|httpx2|.*google[./\\]genai)\b"
_WARNINGS = (("", _WARNING_MODULES), ("Pydantic serializer warnings", r"pydantic\."))
# The clients log to stderr what they send and receive when OPENAI_LOG or ANTHROPIC_LOG is set.
_LOGGERS = ("openai", "anthropic", "google_genai", "google.auth", "httpx2", "httpcore2", "pydantic_ai")
# A cancelled answer still reports what it cost; the listener gets this long to take that.
_LAST_EVENT_TIMEOUT = 1.0


class Gateway:
    """The models of one provider."""

    def __init__(self, provider: Provider, options: GatewayOptions | None = None) -> None:
        self._provider = provider
        self.provider = provider.id
        self._options = options or GatewayOptions()
        self._listed_windows: Mapping[str, int] = {}

    def warm(self) -> None:
        """Import what the provider needs of the gateway library; takes seconds, so call it in a thread."""
        silence_libraries()
        import_module("marid.adapters.gateway.attempt")
        for module in _MODULES[self._provider.dialect]:
            import_module(f"pydantic_ai.{module}")

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        await self._options.threads.run(self.warm)
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
        from marid.adapters.gateway.model_list import list_models  # brings the HTTP library

        models = await list_models(self._provider, self._options.retry_policy)
        self._listed_windows = {model.id: model.context_window for model in models}
        return models

    async def info(self, name: str) -> ModelInfo:
        known = await self._options.threads.run(lambda: find_known_model(self._provider, name))
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


def silence_libraries() -> None:
    """Ignore the libraries' warnings and logs in the whole process: they may hold a key, and stderr is ours."""
    for message, module in _WARNINGS:
        known = ("ignore", re.compile(message, re.IGNORECASE) if message else None, Warning, re.compile(module), 0)
        if known not in warnings.filters:
            warnings.filterwarnings("ignore", message=message, module=module)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
