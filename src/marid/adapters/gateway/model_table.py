"""What is known about models without asking anybody."""

import time
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from marid.adapters.gateway.providers import Provider
from marid.core.model_io import ModelInfo

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo as Priced
    from genai_prices.types import TieredPrices

# These have tables of their own in the library; the others serve whatever somebody loaded.
_TABLES = ("openai", "openrouter", "anthropic", "google")
# Where the library knows a model but not its window: how the name begins, and the window of all such models.
_WINDOWS = MappingProxyType({"gemini-1.5-pro": 2_097_152, "gemini-": 1_048_576, "claude-": 200_000})


def find_known_model(provider: Provider, name: str) -> ModelInfo | None:
    """What the bundled table says about a model of `provider`; its first use takes a quarter of a second."""
    found = _find_prices(_table(provider, name), name)
    if found is None:
        return None
    prices = found.get_prices(datetime.fromtimestamp(time.time(), UTC))
    return ModelInfo(
        id=name,
        provider=provider.id,
        name=found.name or "",
        context_window=found.context_window or _window(name),
        input_price=_price_number(prices.input_mtok),
        output_price=_price_number(prices.output_mtok),
    )


def _table(provider: Provider, name: str) -> str:
    """Who stands behind a URL of one's own is a guess: names with a slash are OpenRouter's way to name anything."""
    if provider.is_custom and provider.dialect == "openai":
        return "openrouter" if "/" in name else "openai"
    return provider.id if provider.id in _TABLES else ""


def _find_prices(table: str, name: str) -> "Priced | None":
    if not table:
        return None
    from genai_prices.data_snapshot import get_snapshot  # imported when used: a table of 1.5 MB

    try:
        _, found = get_snapshot().find_provider_model(name, None, table, None)
    except LookupError:
        return None
    return found


def _window(name: str) -> int:
    bare = name.rpartition("/")[2]
    return next((window for start, window in _WINDOWS.items() if bare.startswith(start)), 0)


def _price_number(price: "object | TieredPrices") -> float | None:
    """A price as a number; of one that grows with the request, the first step."""
    step: object = getattr(price, "base", price)
    return None if step is None else float(str(step))
