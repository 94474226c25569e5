"""The table of settings, and the value that is made from it."""

from dataclasses import fields

import pytest

from marid.adapters.gateway.providers import KNOWN_PROVIDERS
from marid.core.conversation.records import StorageSettings
from marid.core.model_io import Parameters, ReasoningOptions
from marid.core.settings.schema import CHIBI_KEYS, PROVIDERS, SETTINGS, UNSUPPORTED_KEYS, find_setting, unknown_key_hint
from marid.core.settings.values import DisplaySettings, Settings, make_settings, settings_by_key


def keys_of(table: str) -> set[str]:
    names = [one.name.removeprefix(f"{table}.") for one in SETTINGS if one.name.startswith(f"{table}.")]
    return {name for name in names if "." not in name}


def test_every_field_of_the_settings_has_a_row() -> None:
    top = [one for one in SETTINGS if "." not in one.name]
    assert {one.name for one in top} == settings_by_key(Settings()).keys() - {"project_policy", "model_window"}
    assert [one.name for one in top if one.display] == list(DisplaySettings._fields)


def test_the_keys_of_tables_are_the_fields_of_what_is_made_from_them() -> None:
    assert keys_of("api") == {field.name for field in fields(Parameters)}
    assert keys_of("api.reasoning") == {field.name for field in fields(ReasoningOptions)}
    assert keys_of("storage") == {*StorageSettings._fields} - {"lock_heartbeat_seconds"}


def test_no_key_is_both_known_and_not_built_yet() -> None:
    assert UNSUPPORTED_KEYS.isdisjoint(settings_by_key(Settings()))
    assert {"auto_compact", "url_policy", "vfs", "image"} <= UNSUPPORTED_KEYS < CHIBI_KEYS


def test_the_known_providers_are_those_of_the_gateway() -> None:
    assert ("offline", *KNOWN_PROVIDERS) == PROVIDERS


def test_only_keys_are_secret() -> None:
    assert [setting.name for setting in SETTINGS if setting.secret] == ["api_key", "providers.*.api_key"]


def test_a_setting_is_found_by_each_of_its_names() -> None:
    fuel = find_setting("fuel")
    assert fuel is not None
    assert find_setting("max_recursion_depth") == fuel
    assert find_setting("nothing") is None


def test_a_provider_may_have_any_id() -> None:
    key = find_setting("providers.work.api_key")
    assert key is not None
    assert (key.name, key.secret) == ("providers.work.api_key", True)
    table = find_setting("providers.work")
    assert table is not None
    assert table.kind == "table"
    assert [find_setting(name) for name in ("providers.", "providers.a.b", "providers.a.model.x")] == [None] * 3


def test_values_by_key_go_into_their_sections_and_back() -> None:
    values = {**settings_by_key(Settings()), "model": "m", "model_window": 5, "tools": {"include": ("a",)}, "fuel": 1}
    settings = make_settings("/h", **values)
    assert (settings.model.name, settings.model.window, settings.conversation.fuel) == ("m", 5, 1)
    assert settings_by_key(settings) == values
    with pytest.raises(KeyError, match="nonsense"):
        make_settings(nonsense=1)


def test_what_was_meant_is_looked_for_in_the_same_table() -> None:
    assert unknown_key_hint("modle") == "; did you mean 'model'?"
    assert unknown_key_hint("api.reasoning.efort") == "; did you mean 'api.reasoning.effort'?"
    assert unknown_key_hint("tools.z") == "; known keys: tools.include, tools.exclude, tools.exclude_categories"
    assert unknown_key_hint("tools.z", list_known=False) == ""
    assert unknown_key_hint("nowhere.x") == ""
    assert unknown_key_hint("providers.mine.bas_url") == "; did you mean 'providers.mine.base_url'?"
    assert unknown_key_hint("providers.mine.zzz").startswith("; known keys: providers.mine.base_url, ")


def test_a_file_is_offered_its_own_keys_only() -> None:
    assert unknown_key_hint("verbos", display=True) == "; did you mean 'verbose'?"
    assert "verbose" not in unknown_key_hint("verbos", display=False)
