"""Which model is meant, whom it belongs to, and how it is asked."""

import pytest

from fakes.settings import SettingsFiles
from marid.core.errors import BadInput

ALIASES = """
[aliases]
fast = "openai/gpt"
quick = "fast"

[models."openai/gpt"]
context_window = 1000
[models."openai/gpt".api]
temperature = 0.1
seed = 1

[models.fast.api]
temperature = 0.2

[models.deep]
model = "anthropic:claude"
context_window = 2000
"""


def test_the_settings_of_the_model_that_is_meant_are_applied(place: SettingsFiles) -> None:
    place.models(ALIASES)
    place.config('model = "openai/gpt"\ncontext_window_limit = 5\n[api]\nseed = 9\ntop_p = 1\n')
    found = place.resolve().settings
    assert (found.model.name, found.model.window, found.conversation.context_window_limit) == ("openai/gpt", 1000, 5)
    assert found.model.api == {"temperature": 0.1, "seed": 1, "top_p": 1.0}


@pytest.mark.parametrize("where", ["config", "local", "flag", "variable"])
def test_a_model_from_any_layer_gets_its_settings(place: SettingsFiles, where: str) -> None:
    place.models(ALIASES)
    place.config('model = "other"\n')
    flags: dict[str, object] = {}
    environ: dict[str, str] = {}
    match where:
        case "config":
            place.config('model = "openai/gpt"\n')
        case "local":
            place.local('model = "openai/gpt"\n')
        case "flag":
            flags = {"model": "openai/gpt"}
        case _:
            environ = {"CHIBI_MODEL": "openai/gpt"}
    found = place.within(environ, flags)
    assert found.settings.model.window == 1000
    assert found.settings.model.api["seed"] == 1
    assert found.origins["api.seed"].startswith(str(place.home / "models.toml"))


def test_an_alias_stands_for_a_model_and_its_own_settings_are_the_stronger(place: SettingsFiles) -> None:
    place.models(ALIASES)
    for alias in ("fast", "quick"):
        found = place.resolve({"model": alias})
        assert found.settings.model.name == "openai/gpt"
        assert found.settings.model.api == {"temperature": 0.2, "seed": 1}
        assert found.origins["model"] == f"flag, where '{alias}' is an alias of {place.home / 'models.toml'}"


def test_what_stands_above_models_toml_is_stronger(place: SettingsFiles) -> None:
    place.models(ALIASES)
    place.config('model = "fast"\n')
    place.marid_toml("context_window_limit = 800\n")
    assert place.resolve().settings.conversation.context_window_limit == 800
    place.local("context_window_limit = 900\n[api]\ntemperature = 1\n")
    found = place.resolve({"api.seed": 5}).settings
    assert (found.conversation.context_window_limit, found.model.api) == (900, {"temperature": 1.0, "seed": 5})


def test_an_alias_may_name_a_provider_too(place: SettingsFiles) -> None:
    place.models(ALIASES)
    place.config('model = "deep"\n[providers.anthropic]\napi_key = "k"\n')
    found = place.resolve().settings
    assert (found.model.provider, found.model.name, found.model.api_key) == ("anthropic", "claude", "k")
    assert found.model.window == 2000


def test_only_a_known_or_configured_provider_is_told_apart_from_a_model(place: SettingsFiles) -> None:
    place.config('[providers.work]\nbase_url = "http://w/v1"\n')
    assert place.resolve({"model": "llama3:8b"}).settings.model.name == "llama3:8b"
    found = place.resolve({"model": "work:big"}).settings
    assert (found.model.provider, found.model.name, found.model.base_url) == ("work", "big", "http://w/v1")
    named = place.resolve({"model": "ollama:llama3:8b", "provider": "work"}).settings
    assert (named.model.provider, named.model.name) == ("work", "llama3:8b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", r"models\.toml:1: unknown key 'x'; known keys: aliases, models"),
        ("[aliases]\na = 1", "'aliases.a' must be the name of a model"),
        ("aliases = 1", "'aliases' must be a table"),
        ("[models]\nm = 1", "'models.m' must be a table"),
        ("[models.m]\ncontext_window = -1", "'context_window' must be a whole number"),
        ("[models.m]\nmodel = ''", "'models.m.model' must be the name of a model"),
        ("[models.m]\n\n[models.m.api]\nseed = 'x'", r"models\.toml:4: 'api\.seed' must be a whole number"),
        ("[models.m]\napi = 1", "'api' must be a table"),
        ("[models.m.api]\nsed = 1", r"models\.toml:2: unknown key 'models.m.api.sed'; did you mean 'api.seed'"),
        ("[models.'a.b'.api]\nsed = 1", r"models\.toml:2: unknown key"),
        ('[aliases]\na = "b"\n[models.a]\nmodel = "c"', r"models\.toml:4: 'a' is already an alias of 'b'"),
        ('[aliases]\na = "b"\nb = "c"\nc = "b"', r"models\.toml:2: the alias 'a' does not lead to a model"),
        (
            "[aliases]\n" + "".join(f'a{n} = "a{n + 1}"\n' for n in range(5000)),
            "the alias 'a0' does not lead to a model",
        ),
        ('[aliases]\na = "a"', "the alias 'a' does not lead to a model"),
    ],
)
def test_problems_are_told_whichever_model_is_asked(place: SettingsFiles, text: str, words: str) -> None:
    place.models(text + "\n")
    with pytest.raises(BadInput, match=words):
        place.resolve()


def test_the_same_alias_said_twice_is_no_problem(place: SettingsFiles) -> None:
    place.models('[aliases]\na = "b"\n[models.a]\nmodel = "b"\n')
    assert place.resolve({"model": "a"}).settings.model.name == "b"


def test_effort_and_tokens_of_a_model_are_settled(place: SettingsFiles) -> None:
    place.models('[models.m.api.reasoning]\neffort = "low"\nmax_tokens = 5\n')
    found = place.resolve({"model": "m"})
    assert found.settings.model.api["reasoning"] == {"max_tokens": 5}
    assert len(found.notes) == 1


DEFAULT = """
provider = "openai"
api_key = "sk-default"
model = "gpt"
base_url = "https://gate.example/v1"

[providers.work]
base_url = "https://work.example/v1"
api_key = "sk-work"
model = "work-model"
"""


def test_the_top_of_config_toml_is_the_default_provider_s(place: SettingsFiles) -> None:
    place.config(DEFAULT)
    found = place.resolve().settings
    assert (found.model.provider, found.model.name, found.model.api_key) == ("openai", "gpt", "sk-default")


def test_another_provider_brings_its_own_key_address_and_model(place: SettingsFiles) -> None:
    place.config(DEFAULT)
    place.local('provider = "work"\n')
    found = place.resolve()
    assert found.settings.model[:4] == (
        "work", "work-model", "sk-work", "https://work.example/v1",
    )  # fmt: skip
    assert found.origins["api_key"] == str(place.home / "config.toml")
    assert place.resolve({"model": "bigger"}).settings.model.name == "bigger"


def test_the_key_of_one_provider_is_never_sent_to_another(place: SettingsFiles) -> None:
    place.config(DEFAULT)
    for flags in ({"provider": "ollama"}, {"model": "ollama:llama"}):
        found = place.resolve(flags).settings
        assert (found.model.provider, found.model.api_key, found.model.base_url) == ("ollama", "", "")
    assert place.resolve(MARID_PROVIDER="openai").settings.model.api_key == "sk-default"
    assert place.resolve(MARID_PROVIDER="anthropic", MARID_API_KEY="own").settings.model.api_key == "own"


@pytest.mark.parametrize(
    ("config", "provider", "kept"),
    [('api_key = "k"', "openrouter", True), ('api_key = "k"', "openai", False),
     ('base_url = "http://h/v1"\napi_key = "k"', "openai", False),
     ('base_url = "http://h/v1"\napi_key = "k"', "openrouter", False)],
)  # fmt: skip
def test_without_a_name_a_key_alone_is_openrouters_and_an_address_is_nobodys_else(
    place: SettingsFiles, config: str, provider: str, kept: bool
) -> None:
    place.config(config + "\n")
    assert place.resolve({"provider": provider}).settings.model.api_key == ("k" if kept else "")


def test_a_service_that_has_only_an_address_gets_nothing_of_a_provider_with_a_name(place: SettingsFiles) -> None:
    """The defect: it was taken for OpenAI, and got its key."""
    place.config('base_url = "http://h/v1"\nmodel = "qwen"\n[providers.openai]\napi_key = "sk-real"\nmodel = "gpt"\n')
    found = place.resolve().settings
    assert (found.model.provider, found.model.base_url, found.model.api_key, found.model.name) == (
        "",
        "http://h/v1",
        "",
        "qwen",
    )
    named = place.resolve({"model": "openai:gpt"}).settings
    assert (named.model.provider, named.model.base_url, named.model.api_key, named.model.name) == (
        "openai",
        "",
        "sk-real",
        "gpt",
    )


def test_a_model_that_belongs_to_nobody_goes_to_the_provider_that_is_named_later(place: SettingsFiles) -> None:
    place.config('model = "llama3"\n')
    found = place.resolve(MARID_PROVIDER="ollama").settings
    assert (found.model.provider, found.model.name) == ("ollama", "llama3")


def test_the_default_provider_may_have_a_table_too(place: SettingsFiles) -> None:
    place.config('provider = "work"\nmodel = "mine"\n[providers.work]\napi_key = "k"\nmodel = "theirs"\n')
    found = place.resolve().settings
    assert (found.model.name, found.model.api_key) == ("mine", "k")


def test_the_model_of_a_provider_s_table_may_be_an_alias(place: SettingsFiles) -> None:
    place.models(ALIASES)
    place.config('provider = "work"\n[providers.work]\nmodel = "fast"\n')
    found = place.resolve().settings
    assert (found.model.name, found.model.window) == ("openai/gpt", 1000)


def test_a_preset_of_another_program_is_no_model(place: SettingsFiles) -> None:
    place.config('model = "ratatoskr:free/agentic"\n')
    found = place.resolve()
    assert found.settings.model.name == ""
    assert "presets of ratatoskr are not supported" in found.notes[0]
