"""Context windows and prices of models, from the bundled table."""

import time
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from marid.adapters.gateway.providers import Provider
from marid.core.model_io import ModelInfo

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices

# The providers that the table has.
_TABLES = ("openai", "openrouter", "anthropic", "google")
# For models whose window the library does not know: prefix of the name, and window.
_WINDOWS = MappingProxyType({"gemini-1.5-pro": 2_097_152, "gemini-": 1_048_576, "claude-": 200_000})


def find_known_model(provider: Provider, name: str) -> ModelInfo | None:
    """A model of `provider` in the bundled table; the first use takes a quarter of a second."""
    table = _table(provider, name)
    if not table:
        return None
    from genai_prices.data_snapshot import get_snapshot  # a table of 1.5 MB

    try:
        _, found = get_snapshot().find_provider_model(name, None, table, None)
    except LookupError:
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
    """The service behind a custom URL is a guess: OpenRouter's model names have a slash."""
    if provider.is_custom and provider.dialect == "openai":
        return "openrouter" if "/" in name else "openai"
    return provider.id if provider.id in _TABLES else ""


def _window(name: str) -> int:
    bare = name.rpartition("/")[2]
    return next((window for start, window in _WINDOWS.items() if bare.startswith(start)), 0)


def _price_number(price: "object | TieredPrices") -> float | None:
    """A price as a number; the lowest tier of one that grows with the request."""
    step: object = getattr(price, "base", price)
    return None if step is None else float(str(step))
