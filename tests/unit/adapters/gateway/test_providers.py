"""The known providers, and what the bundled table knows of their models."""

import pytest

from marid.adapters.gateway.providers import KNOWN_PROVIDERS, Provider, find_known_model, provider_from_settings
from marid.core.errors import BadInput


def test_nothing_at_all_means_offline() -> None:
    assert provider_from_settings() is None
    assert provider_from_settings("offline", api_key="x") is None


def test_a_url_alone_is_an_openai_compatible_service() -> None:
    provider = provider_from_settings(base_url="http://127.0.0.1:8080/v1/")
    assert provider == Provider(id="openai", dialect="openai", base_url="http://127.0.0.1:8080/v1")
    assert provider
    assert provider.is_custom
    assert provider.host == "127.0.0.1:8080"


def test_a_key_alone_is_openrouters() -> None:
    provider = provider_from_settings(api_key="k")
    assert provider
    assert (provider.id, provider.dialect, provider.is_custom) == ("openrouter", "openrouter", False)


@pytest.mark.parametrize("id", KNOWN_PROVIDERS)
def test_every_known_provider_has_its_address(id: str) -> None:
    provider = provider_from_settings(id, api_key="k")
    assert provider
    assert provider.base_url == KNOWN_PROVIDERS[id].base_url
    assert not provider.is_custom


def test_local_providers_need_no_key() -> None:
    assert provider_from_settings("lmstudio")
    assert provider_from_settings("ollama")


@pytest.mark.parametrize(
    ("id", "given", "root"),
    [
        ("lmstudio", "http://localhost:1234", "http://localhost:1234/v1"),
        ("ollama", "http://box:1/v1/", "http://box:1/v1"),
        ("anthropic", "http://proxy/v1", "http://proxy"),
        ("google", "http://proxy/v1beta", "http://proxy"),
        ("", "http://proxy", "http://proxy"),
    ],
)
def test_an_address_may_be_given_with_and_without_its_version(id: str, given: str, root: str) -> None:
    provider = provider_from_settings(id, base_url=given)
    assert provider
    assert provider.base_url == root


def test_a_missing_key_is_an_error() -> None:
    with pytest.raises(BadInput, match="'anthropic' needs a key"):
        provider_from_settings("anthropic")
    assert provider_from_settings("anthropic", base_url="http://localhost:9")


def test_an_unknown_name_needs_its_url() -> None:
    provider = provider_from_settings("vllm", base_url="http://gpu:8000/v1")
    assert provider
    assert (provider.id, provider.dialect) == ("vllm", "openai")
    with pytest.raises(BadInput, match="unknown provider 'vllm'"):
        provider_from_settings("vllm")
    with pytest.raises(BadInput, match="unknown provider 'antropic'; did you mean 'anthropic'"):
        provider_from_settings("antropic")


@pytest.mark.parametrize(
    "url", ["localhost:1234", "ftp://x/v1", "http://", "http://x:0/v1", "http://[::1/v1", "http://x:99999"]
)
def test_an_invalid_url_is_an_error(url: str) -> None:
    with pytest.raises(BadInput, match="must be an http or https URL"):
        provider_from_settings(base_url=url)


def test_the_key_is_in_no_repr_and_a_password_in_no_message() -> None:
    provider = Provider(
        id="x", dialect="openai", base_url="http://me:pw@host:1/v1", api_key="secret-key", proxy="socks5://proxy"
    )
    assert "secret-key" not in repr(provider)
    assert "socks5" not in repr(provider)
    assert provider.host == "host:1"


def test_an_invalid_host_name_is_an_error() -> None:
    assert provider_from_settings("vllm", base_url="http://bücher.example/v1")
    with pytest.raises(BadInput, match="an invalid host name"):
        provider_from_settings("vllm", base_url="http://☃.net/v1")


@pytest.mark.parametrize("key", ["sk-1\n", "sk\r\nX-Evil: 1", "sk-ключ", " sk-1", "sk-1 ", "sk\x00"])
def test_an_invalid_key_is_an_error_that_does_not_show_it(key: str) -> None:
    with pytest.raises(BadInput, match="api_key of provider 'openrouter'") as caught:
        provider_from_settings(api_key=key)
    assert key not in str(caught.value)


def test_a_login_is_taken_out_of_the_address() -> None:
    provider = provider_from_settings("vllm", base_url="http://me:p%40ss@host:1/v1")
    assert provider
    assert (provider.base_url, provider.login) == ("http://host:1/v1", "me:p@ss")
    assert "p@ss" not in repr(provider)
    assert {"me:p@ss", "p@ss"} < set(provider.secrets)
    with pytest.raises(BadInput, match="both an api_key and a password"):
        provider_from_settings("vllm", base_url="http://me:pass@host:1/v1", api_key="k")
    assert provider_from_settings("anthropic", base_url="http://me:pass@host:1", api_key="k")


@pytest.mark.parametrize("more", ["?key=secret", "#secret"])
def test_a_query_in_an_address_is_an_error_that_does_not_show_it(more: str) -> None:
    with pytest.raises(BadInput, match="must not contain") as caught:
        provider_from_settings(base_url=f"http://host:1/v1{more}")
    assert "secret" not in str(caught.value)


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
