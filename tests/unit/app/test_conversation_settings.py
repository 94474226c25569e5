"""What a person sets for one conversation."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel
from fakes.settings import SAMPLES, Sample, value_of
from marid.app.app import RequestScope
from marid.app.conversation_settings import set_conversation_settings, set_model, set_system_prompt, set_username
from marid.bootstrap.wiring import open_request
from marid.core.errors import BadInput, NotFound, Unavailable
from marid.core.settings.schema import SETTINGS_BY_NAME
from marid.core.settings.values import Settings

EVERYWHERE = {
    name: one
    for name, one in SAMPLES.items()
    if name not in SETTINGS_BY_NAME or SETTINGS_BY_NAME[name].per_conversation
}


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], RequestScope]:
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    return lambda: open_request(
        cwd=str(tmp_path / "project"), home=str(tmp_path / "home"), environ={"HOME": str(tmp_path)}
    )


@pytest.fixture
def scope(make: Callable[[], RequestScope]) -> RequestScope:
    return make()


@pytest.fixture
def local(tmp_path: Path) -> Path:
    return tmp_path / "home" / "contexts" / "talk" / "local.toml"


def test_the_conversation_is_made_and_its_file_written(scope: RequestScope, local: Path) -> None:
    set_conversation_settings(scope, "talk", {"fuel": "7", "api.temperature": 0.5, "tools.exclude": "a,b"})
    assert [meta.name for meta in scope.stores.conversations.list()] == ["talk"]
    assert local.read_text() == 'fuel = 7\n\n[api]\ntemperature = 0.5\n\n[tools]\nexclude = ["a", "b"]\n'
    assert scope.within("talk").resolve().settings.conversation.fuel == 7
    assert scope.within("other").resolve().settings.conversation.fuel == 30


@pytest.mark.parametrize(("name", "sample"), EVERYWHERE.items(), ids=EVERYWHERE)
def test_every_setting_that_a_conversation_may_have_can_be_written(
    scope: RequestScope, name: str, sample: Sample
) -> None:
    set_conversation_settings(scope, "talk", {name: sample.text})
    assert value_of(scope.within("talk").resolve(), name) == sample.value


def test_comments_and_unknown_keys_stay_and_a_key_can_be_removed(scope: RequestScope, local: Path) -> None:
    set_conversation_settings(scope, "talk", {})
    assert not local.exists()
    local.write_text("# mine\nmystery = 1\nfuel = 3\n[api]\nseed = 1 # lucky\n")
    set_conversation_settings(
        scope, "talk", {"username": "ada", "fuel": None, "api.seed": None, "storage.bytes_per_token": None}
    )
    assert local.read_text() == '# mine\nmystery = 1\nusername = "ada"\n\n[api]\n'


def test_whoever_sets_an_effort_takes_back_a_number_of_tokens_and_the_other_way_round(
    scope: RequestScope, local: Path
) -> None:
    set_conversation_settings(scope, "talk", {"api.reasoning.max_tokens": "2000"})
    set_conversation_settings(scope, "talk", {"api.reasoning.effort": "high"})
    assert scope.within("talk").resolve().settings.model.api == {"reasoning": {"effort": "high"}}
    set_conversation_settings(scope, "talk", {"api.reasoning.max_tokens": "2000"})
    assert "effort" not in local.read_text()
    set_conversation_settings(scope, "talk", {"api.reasoning.effort": None})
    assert scope.within("talk").resolve().settings.model.api == {"reasoning": {"max_tokens": 2000}}


def test_what_is_shown_goes_into_the_conversation_s_cli_toml(scope: RequestScope, local: Path) -> None:
    set_conversation_settings(scope, "talk", {"verbose": "yes", "markdown_style": {"h1": "blue"}})
    assert (local.parent / "cli.toml").read_text() == 'verbose = true\n\n[markdown_style]\nh1 = "blue"\n'
    assert not local.exists()
    assert scope.within("talk").resolve().settings.display.verbose
    set_conversation_settings(scope, "talk", {"verbose": None, "markdown_style": None})
    assert (local.parent / "cli.toml").read_text().strip() == ""


def test_tables_are_checked_key_by_key(scope: RequestScope, local: Path) -> None:
    set_conversation_settings(scope, "talk", {"api": {"seed": "3", "reasoning": {"effort": "low"}}})
    assert local.read_text() == '[api]\nseed = 3\n\n[api.reasoning]\neffort = "low"\n'
    for values in ({"api": {"sede": 1}}, {"api": {"seed": "x"}}, {"api": 3}):
        with pytest.raises(BadInput, match="api"):
            set_conversation_settings(scope, "talk", values)
    set_conversation_settings(scope, "talk", {"api.reasoning": None})
    assert local.read_text() == "[api]\nseed = 3\n\n"


def test_nothing_is_written_or_made_when_a_value_is_wrong(scope: RequestScope, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        set_conversation_settings(
            scope, "talk", {"fule": 1, "api.seed": "x", "lock_heartbeat_seconds": 3, "username": "ok"}
        )
    assert str(caught.value) == (
        "unknown key 'fule'; did you mean 'fuel'?; 'api.seed' must be a whole number, not 'x'; "
        "'lock_heartbeat_seconds' is the same for all conversations: set it in config.toml"
    )
    assert scope.stores.conversations.list() == ()


@pytest.mark.parametrize("name", ["../x", "system", ""])
def test_a_name_that_is_none_is_refused_before_anything_is_made(scope: RequestScope, tmp_path: Path, name: str) -> None:
    for attempt in (
        lambda: set_conversation_settings(scope, name, {"fuel": 1}),
        lambda: anyio.run(set_model, scope, name, "offline:offline"),
        lambda: set_username(scope, name, "ada"),
        lambda: set_system_prompt(scope, name, "Be brief."),
    ):
        with pytest.raises(BadInput):
            attempt()
    assert not (tmp_path / "home" / "contexts").exists() or os.listdir(tmp_path / "home" / "contexts") == []


def test_a_conversation_may_be_named_by_its_id(scope: RequestScope, local: Path) -> None:
    key = scope.stores.conversations.create("talk").id
    set_conversation_settings(scope, key, {"fuel": 4})
    assert local.read_text() == "fuel = 4\n"


def with_model(scope: RequestScope, model: FakeModel, asked: list[Settings]) -> RequestScope:
    def make(settings: Settings, files: object) -> FakeModel:
        asked.append(settings)
        return model

    return scope._replace(app=scope.app._replace(model=make))


def test_a_model_is_asked_for_before_it_is_written(scope: RequestScope, local: Path) -> None:
    asked: list[Settings] = []
    scope = with_model(scope, FakeModel(name="big"), asked)
    assert anyio.run(set_model, scope, "talk", "big") == "big"
    assert local.read_text() == 'model = "big"\n'
    with pytest.raises(NotFound):
        anyio.run(set_model, scope, "talk", "small")
    assert local.read_text() == 'model = "big"\n'
    assert [settings.model.name for settings in asked] == ["big", "small"]
    with pytest.raises(BadInput, match="name a model"):
        anyio.run(set_model, scope, "talk", " ")


def test_a_model_that_is_not_there_makes_no_conversation(scope: RequestScope) -> None:
    scope = with_model(scope, FakeModel(name="big"), [])
    with pytest.raises(NotFound):
        anyio.run(set_model, scope, "talk", "small")
    assert scope.stores.conversations.list() == ()


def test_provider_and_model_are_set_together_and_the_key_of_another_provider_goes(
    scope: RequestScope, local: Path
) -> None:
    asked: list[Settings] = []
    scope = with_model(scope, FakeModel(name="claude"), asked)
    set_conversation_settings(scope, "talk", {"provider": "openai", "api_key": "sk-old", "base_url": "http://h/v1"})
    assert anyio.run(set_model, scope, "talk", "anthropic:claude") == "anthropic:claude"
    assert local.read_text() == 'model = "anthropic:claude"\n'
    assert (asked[0].model.provider, asked[0].model.name, asked[0].model.api_key) == ("anthropic", "claude", "")
    meant = scope.within("talk").resolve().settings
    assert (meant.model.provider, meant.model.name) == ("anthropic", "claude")


def test_a_configured_provider_counts_and_a_colon_alone_does_not(
    make: Callable[[], RequestScope], tmp_path: Path
) -> None:
    (tmp_path / "home" / "config.toml").write_text('[providers.work]\nbase_url = "http://w/v1"\n')
    asked: list[Settings] = []
    scope = with_model(make(), FakeModel(name="m"), asked)
    anyio.run(set_model, scope, "talk", "work:m")
    assert (asked[0].model.provider, asked[0].model.base_url) == ("work", "http://w/v1")
    scope = with_model(scope, FakeModel(name="llama3:8b"), asked)
    anyio.run(set_model, scope, "talk", "llama3:8b")
    assert scope.within("talk").resolve().settings.model.name == "llama3:8b"


def test_an_alias_is_written_as_it_was_given(make: Callable[[], RequestScope], tmp_path: Path, local: Path) -> None:
    (tmp_path / "home" / "models.toml").write_text('[aliases]\nfast = "small"\n')
    scope = with_model(make(), FakeModel(name="small"), [])
    anyio.run(set_model, scope, "talk", "fast")
    assert local.read_text() == 'model = "fast"\n'


def test_a_username_is_a_line(scope: RequestScope) -> None:
    set_username(scope, "talk", "Ada Lovelace")
    assert scope.within("talk").resolve().settings.conversation.username == "Ada Lovelace"
    for name in ("", "  ", "a\nb"):
        with pytest.raises(BadInput, match="'username' must be a line of text"):
            set_username(scope, "talk", name)


def prompt_of(scope: RequestScope) -> str:
    return scope.stores.conversations.read("talk").read_note("system_prompt")


def test_a_system_prompt_is_a_file_s_where_there_is_one_else_the_text(scope: RequestScope, tmp_path: Path) -> None:
    set_system_prompt(scope, "talk", "Be brief.")
    assert prompt_of(scope) == "Be brief."
    (tmp_path / "project" / "prompt.md").write_text("From a file: ä\n")
    set_system_prompt(scope, "talk", "prompt.md")
    assert prompt_of(scope) == "From a file: ä\n"
    set_system_prompt(scope, "talk", "x" * 5000)
    assert prompt_of(scope) == "x" * 5000
    set_system_prompt(scope, "talk", "a folder is text: .")
    assert prompt_of(scope) == "a folder is text: ."


def test_a_blank_prompt_is_none(scope: RequestScope, tmp_path: Path) -> None:
    (tmp_path / "project" / "empty.md").touch()
    assert set_system_prompt(scope, "talk", "Be brief.")
    assert not set_system_prompt(scope, "talk", "empty.md")
    assert not set_system_prompt(scope, "talk", "")


def test_a_file_that_cannot_be_a_prompt_is_told(scope: RequestScope, tmp_path: Path) -> None:
    (tmp_path / "project" / "large").write_bytes(b"x" * 1_048_577)
    (tmp_path / "project" / "binary").write_bytes(b"\xff")
    for name, words in (("large", "larger than"), ("binary", "is not UTF-8 text")):
        with pytest.raises(BadInput, match=words):
            set_system_prompt(scope, "talk", name)


def test_a_file_that_cannot_be_read_is_told(scope: RequestScope) -> None:
    with pytest.raises(Unavailable, match="'/proc/self/mem' cannot be read"):
        set_system_prompt(scope, "talk", "/proc/self/mem")


def test_what_cannot_be_a_path_is_text(scope: RequestScope) -> None:
    with pytest.raises(BadInput):
        set_system_prompt(scope, "", "a\0b")
    set_system_prompt(scope, "talk", "a\0b")
    assert prompt_of(scope) == "a\0b"


def test_a_system_prompt_is_stored_as_the_conversation_stores(scope: RequestScope, local: Path) -> None:
    set_conversation_settings(scope, "talk", {"storage.partition_max_entries": 1})
    set_system_prompt(scope, "talk", "be nice")
    assert len(list((local.parent / "transcript/partitions").glob("*.jsonl"))) == 1
