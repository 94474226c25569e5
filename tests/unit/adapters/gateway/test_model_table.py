"""What the bundled table knows."""

import pytest

from marid.adapters.gateway.model_table import find_known_model
from marid.adapters.gateway.providers import KNOWN_PROVIDERS, Provider, provider_from_settings


def provider(id: str) -> Provider:
    found = provider_from_settings(id, api_key="k")
    assert found
    return found


@pytest.mark.parametrize(
    ("id", "name", "window"),
    [
        ("openai", "gpt-4o-2024-08-06", 128_000),
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000),
        ("google", "gemini-2.5-pro", 1_048_576),
        ("openrouter", "openai/gpt-4o", 128_000),
    ],
)
def test_windows_and_prices_of_well_known_models(id: str, name: str, window: int) -> None:
    info = find_known_model(provider(id), name)
    assert info
    assert (info.id, info.provider, info.context_window) == (name, id, window)
    assert info.input_price
    assert info.output_price


def test_models_of_local_services_and_unknown_models_are_not_known() -> None:
    assert find_known_model(provider("lmstudio"), "gpt-4o") is None
    assert find_known_model(provider("openai"), "unknown-model") is None
    assert set(KNOWN_PROVIDERS) >= {"lmstudio", "ollama"}


def test_behind_a_custom_url_the_name_decides() -> None:
    custom = provider_from_settings(base_url="http://proxy.example/v1")
    assert custom
    for name in ("gpt-4o", "openai/gpt-4o"):
        info = find_known_model(custom, name)
        assert info
        assert info.context_window == 128_000


def test_a_model_without_window_or_price_has_none() -> None:
    info = find_known_model(provider("openrouter"), "ai21/jamba-instruct")
    assert info is None or info.context_window == 0
