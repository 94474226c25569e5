"""Which provider the settings name."""

import pytest

from marid.adapters.gateway.providers import KNOWN, Provider, chosen
from marid.core.errors import BadInput


def test_nothing_at_all_means_offline() -> None:
    assert chosen() is None
    assert chosen("offline", api_key="x") is None


def test_a_url_alone_is_an_openai_compatible_service() -> None:
    provider = chosen(base_url="http://127.0.0.1:8080/v1/")
    assert provider == Provider(id="openai", dialect="openai", base_url="http://127.0.0.1:8080/v1")
    assert provider
    assert provider.is_custom
    assert provider.place == "127.0.0.1:8080"


def test_a_key_alone_is_openrouters() -> None:
    provider = chosen(api_key="k")
    assert provider
    assert (provider.id, provider.dialect, provider.is_custom) == ("openrouter", "openrouter", False)


@pytest.mark.parametrize("id", KNOWN)
def test_every_known_provider_has_its_place(id: str) -> None:
    provider = chosen(id, api_key="k")
    assert provider
    assert provider.base_url == KNOWN[id].base_url
    assert not provider.is_custom


def test_local_providers_need_no_key() -> None:
    assert chosen("lmstudio")
    assert chosen("ollama")


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
    provider = chosen(id, base_url=given)
    assert provider
    assert provider.base_url == root


def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    with pytest.raises(BadInput, match="'anthropic' needs a key"):
        chosen("anthropic")
    assert chosen("anthropic", base_url="http://localhost:9")


def test_an_unknown_name_needs_its_url() -> None:
    provider = chosen("vllm", base_url="http://gpu:8000/v1")
    assert provider
    assert (provider.id, provider.dialect) == ("vllm", "openai")
    with pytest.raises(BadInput, match="unknown provider 'vllm'"):
        chosen("vllm")


@pytest.mark.parametrize(
    "url", ["localhost:1234", "ftp://x/v1", "http://", "http://x:0/v1", "http://[::1/v1", "http://x:99999"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="no http or https URL"):
        chosen(base_url=url)


def test_the_key_is_in_no_repr_and_a_password_in_no_message() -> None:
    provider = Provider(
        id="x", dialect="openai", base_url="http://me:pw@host:1/v1", api_key="secret-key", proxy="socks5://proxy"
    )
    assert "secret-key" not in repr(provider)
    assert "socks5" not in repr(provider)
    assert provider.place == "host:1"
