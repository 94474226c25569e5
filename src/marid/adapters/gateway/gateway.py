"""The port Model for every provider on the network."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from marid.adapters.gateway.journal import Journal
from marid.adapters.gateway.library import load
from marid.adapters.gateway.listing import listed
from marid.adapters.gateway.metadata import known
from marid.adapters.gateway.patience import FURTHER_TRIES, Patience
from marid.adapters.gateway.providers import Provider
from marid.core.chat import ModelInfo, ModelRequest, Retrying
from marid.core.errors import NotFound, Unavailable
from marid.ports.budget import Budget
from marid.ports.model import Take

if TYPE_CHECKING:
    from marid.adapters.gateway.exchange import Exchange

# An answer that was cancelled still says what it cost, to whoever listens for at most so long.
_LAST_WORD = 1.0


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a gateway may use besides the network; `windows` are context windows that somebody set by hand."""

    patience: Patience = field(default_factory=Patience)
    budget: Budget | None = None
    journal: Journal | None = None
    windows: Mapping[str, int] = field(default_factory=dict[str, int])


class Gateway:
    """The models of one provider."""

    def __init__(self, provider: Provider, means: Means | None = None) -> None:
        self._provider = provider
        self._means = means or Means()
        self._listed: Mapping[str, int] = {}

    @property
    def provider(self) -> str:
        """As in the port."""
        return self._provider.id

    def warm(self) -> None:
        """Import the gateway library; takes seconds, so call it in a thread while other work goes on."""
        load(self._provider)

    async def stream(self, request: ModelRequest, take: Take) -> None:
        """As in the port."""
        await anyio.to_thread.run_sync(self.warm, abandon_on_cancel=True)
        from marid.adapters.gateway.exchange import Broken, Exchange, Setting  # imported when used

        setting = Setting(self._provider, self._means.patience, self._means.journal)
        for failures in count():
            self._ask(request)
            exchange = Exchange(setting, request)
            try:
                await self._try(exchange, request, take)
            except Broken as broken:
                error, again, after = broken.failure
                if exchange.given or not again or failures == FURTHER_TRIES:
                    raise error from broken
                if after is not None and after > self._means.patience.longest_asked:
                    raise Unavailable(f"{error}; it asks to be left alone for {after:,.0f} s") from broken
                wait = self._means.patience.wait(failures, after)
                await take(Retrying(failures + 2, round(wait, 1), str(error)))
                await self._means.patience.sleep(wait)
            else:
                return

    async def models(self) -> tuple[ModelInfo, ...]:
        """As in the port."""
        models = await listed(self._provider, self._means.patience)
        self._listed = {model.id: model.context_window for model in models}
        return models

    async def info(self, name: str) -> ModelInfo:
        """As in the port."""
        found = await anyio.to_thread.run_sync(known, self._provider, name)
        if found and found.context_window:
            return found
        for model in await self.models():
            if model.id == name:
                return model
        if found:
            return found
        raise NotFound(f"'{self._provider.place}' does not offer the model '{name}'")

    def context_window(self, name: str) -> int:
        """As in the port."""
        if window := self._means.windows.get(name):
            return window
        found = known(self._provider, name)
        return (found.context_window if found else 0) or self._listed.get(name, 0)

    def _ask(self, request: ModelRequest) -> None:
        if self._means.budget:
            self._means.budget.ask(request)

    async def _try(self, exchange: "Exchange", request: ModelRequest, take: Take) -> None:
        whole = False
        try:
            await exchange.run(take)
            whole = True
        finally:
            if whole or exchange.counted:
                await self._account(exchange, request, take, whole=whole)

    async def _account(self, exchange: "Exchange", request: ModelRequest, take: Take, *, whole: bool) -> None:
        usage = exchange.usage()
        if self._means.budget:
            self._means.budget.spend(request, usage)
        if not whole:
            with anyio.move_on_after(_LAST_WORD, shield=True):
                await take(usage)
