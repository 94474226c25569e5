"""Which provider the settings mean, and with which key."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.providers import Provider
from marid.adapters.offline import OfflineModel
from marid.adapters.store.conversations import FileConversations, open_stores
from marid.bootstrap.environment import provider_secrets
from marid.bootstrap.model_wiring import make_model, make_providers
from marid.core.errors import BadInput, Unavailable
from marid.core.model_io import ModelRequest
from marid.core.settings.values import Settings, make_settings
from marid.ports.model import Model


def provider(model: Model) -> Provider:
    assert isinstance(model, Gateway)
    return model._provider  # pyright: ignore[reportPrivateUsage] - what it would ask is what this is about


def test_without_anything_it_is_offline() -> None:
    assert isinstance(make_model({"OPENAI_API_KEY": "k"}, Settings(), {}), OfflineModel)


def test_a_url_alone_is_an_openai_compatible_service() -> None:
    made = provider(make_model({}, make_settings(base_url="http://localhost:1/v1", api_key="k"), {}))
    assert (made.id, made.dialect, made.base_url, made.api_key) == ("openai", "openai", "http://localhost:1/v1", "k")


def test_a_table_holds_all_that_its_provider_needs_and_gets_no_key_of_another() -> None:
    rows = {"local": {"base_url": "http://localhost:2/v1"}}
    _, made, _ = make_providers({}, make_settings(provider="openai", api_key="other", providers=rows))
    assert (made.provider, provider(made).base_url, provider(made).api_key) == ("local", "http://localhost:2/v1", "")


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"), ("google", "GOOGLE_API_KEY")],
)
def test_a_key_may_stand_where_the_services_own_programs_look_for_it(name: str, variable: str) -> None:
    assert provider(make_model({variable: "from there"}, make_settings(provider=name), {})).api_key == "from there"
    named = {"google": "GEMINI_API_KEY"}.get(name, variable)
    with pytest.raises(BadInput, match=f"'{name}' needs a key: set {named}, or api_key in config.toml"):
        make_model({}, make_settings(provider=name), {})


@pytest.mark.parametrize(
    ("name", "environ", "told"),
    [
        ("gpt-4o", {}, "model 'gpt-4o' needs a provider: write 'openai:gpt-4o' and set OPENAI_API_KEY"),
        ("gpt-4o", {"OPENAI_API_KEY": "k"}, "model 'gpt-4o' needs a provider: write 'openai:gpt-4o'"),
        ("antropic:claude", {}, "needs a provider: 'antropic' is not one; did you mean 'anthropic:claude'?"),
        ("mine", {}, "model 'mine' needs a provider: write PROVIDER:mine, or set provider or base_url in config.toml"),
    ],
)
def test_a_model_that_is_named_and_cannot_be_asked_is_an_error(name: str, environ: dict[str, str], told: str) -> None:
    with pytest.raises(BadInput) as error:
        make_model(environ, make_settings(model=name), {})
    assert str(error.value).endswith(told)


def test_offline_answers_only_for_its_own_model() -> None:
    assert isinstance(make_model({}, make_settings(model="offline"), {}), OfflineModel)
    with pytest.raises(BadInput, match="provider 'offline' has one model, 'offline', and no 'gpt-4o'"):
        make_model({}, make_settings(provider="offline", model="gpt-4o"), {})


def test_the_way_leads_through_the_proxy_of_the_environment() -> None:
    settings = make_settings(provider="openai", api_key="k")
    assert provider(make_model({"HTTPS_PROXY": "http://proxy:3128"}, settings, {})).proxy == "http://proxy:3128"


def test_all_providers_are_the_default_one_then_the_tables_then_offline() -> None:
    rows = {"a": {"base_url": "http://localhost:1/v1"}, "b": {"base_url": "http://localhost:2/v1"}}
    settings = make_settings(provider="b", base_url="http://localhost:2/v1", providers=rows)
    assert [one.provider for one in make_providers({}, settings)] == ["b", "a", "offline"]
    assert [one.provider for one in make_providers({}, Settings())] == ["offline"]


def test_conversations_are_kept_in_the_home(tmp_path: Path) -> None:
    memory = open_stores(str(tmp_path))
    assert isinstance(memory.conversations, FileConversations)
    memory.conversations.create("a")
    assert (tmp_path / "contexts/a").is_dir()


def test_a_home_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(Unavailable, match=f"the home '{home}' is not a folder"):
            open_stores(str(home))
    assert open_stores(str(tmp_path / "nowhere")).conversations.list() == ()


def test_a_provider_that_lacks_something_says_so_when_asked_and_hides_no_other() -> None:
    rows = {"anthropic": {"model": "m"}, "mine": {"base_url": "http://localhost:2/v1"}}
    made = make_providers({}, make_settings(base_url="nonsense", providers=rows))
    assert [one.provider for one in made] == ["openai", "anthropic", "mine", "offline"]
    lacking = made[1]
    assert lacking.context_window("m") == 0
    request = ModelRequest(model="m", messages=())

    async def take(_: object) -> None:
        pytest.fail("nothing is told")

    for asking in (lacking.models(), lacking.info("m"), lacking.stream(request, take)):
        with pytest.raises(BadInput, match="needs a key"):
            anyio.run(_awaited, asking)


async def _awaited(asking: Coroutine[Any, Any, object]) -> None:
    await asking


def test_a_window_that_somebody_wrote_down_is_the_models_own() -> None:
    rows = {"a": {"base_url": "http://localhost:1/v1"}, "b": {"base_url": "http://localhost:2/v1"}}
    settings = make_settings(
        provider="b", base_url="http://localhost:2/v1", providers=rows, model="m", model_window=500
    )
    assert make_model({}, settings, {}).context_window("m") == 500
    assert [one.context_window("m") for one in make_providers({}, settings)] == [500, 0, 0]


def test_every_key_that_is_set_somewhere_is_known() -> None:
    rows = {"two": {"api_key": "key-two-2"}, "three": {"base_url": "http://u:hush%20hush@h/v1"}}
    settings = make_settings(api_key="key-one-1", providers={**rows, "ollama": {"api_key": "ollama"}})
    found = provider_secrets(settings, {"OPENAI_API_KEY": "key-four", "GEMINI_API_KEY": ""})
    assert set(found) == {"key-one-1", "key-two-2", "hush hush", "key-four"}
