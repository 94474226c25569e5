from dataclasses import fields

from marid.core.conversation.records import StorageSettings
from marid.core.model_io import Parameters, ReasoningOptions
from marid.core.settings.schema import (
    API,
    DISPLAY_BY_NAME,
    EFFORTS,
    SETTINGS_BY_NAME,
    STORAGE,
    find_display_setting,
    find_setting,
    flatten,
    suggestion,
)


def test_the_keys_of_api_are_the_parameters_of_a_request() -> None:
    own = {one.name.removeprefix("api.") for one in API if not one.name.startswith("api.reasoning.")}
    assert own == {field.name for field in fields(Parameters)}
    thinking = {name.removeprefix("api.reasoning.") for name in SETTINGS_BY_NAME if name.startswith("api.reasoning.")}
    assert thinking == {field.name for field in fields(ReasoningOptions)}
    assert "medium" in EFFORTS


def test_the_keys_of_storage_are_the_store_s() -> None:
    assert {one.name.removeprefix("storage.") for one in STORAGE} == {*StorageSettings._fields} - {
        "lock_heartbeat_seconds"
    }


def test_a_setting_is_found_by_each_of_its_names() -> None:
    fuel = find_setting("fuel")
    assert fuel is not None
    assert find_setting("max_recursion_depth") == fuel
    assert find_setting("nothing") is None
    assert find_display_setting("verbose") is DISPLAY_BY_NAME["verbose"]
    assert find_display_setting("fuel") is None


def test_a_provider_may_have_any_id() -> None:
    key = find_setting("providers.work.api_key")
    assert key is not None
    assert (key.name, key.secret) == ("providers.work.api_key", True)
    table = find_setting("providers.work")
    assert table is not None
    assert table.kind == "table"
    assert [find_setting(name) for name in ("providers.", "providers.a.b", "providers.a.model.x")] == [None] * 3


def test_tables_become_names_with_dots_in_whichever_way_they_came() -> None:
    values = {
        "api": {"reasoning": {"effort": "low"}},
        "storage": '{"bytes_per_token": 2}',
        "api.seed": "3",
        "x": {"y": 1},
    }
    assert dict(flatten(values)) == {
        "api.reasoning.effort": "low",
        "storage.bytes_per_token": 2,
        "api.seed": 3,
        "x": {"y": 1},
    }
    assert dict(flatten({"api": None, "policy": {"exec": "ask"}, "fuel": "x"})) == {
        "api": None,
        "policy": {"exec": "ask"},
        "fuel": "x",
    }


def test_what_was_meant_is_looked_for_in_the_same_table() -> None:
    assert suggestion("modle", SETTINGS_BY_NAME) == "; did you mean 'model'?"
    assert suggestion("api.reasoning.efort", SETTINGS_BY_NAME) == "; did you mean 'api.reasoning.effort'?"
    assert (
        suggestion("tools.zzz", SETTINGS_BY_NAME)
        == "; known are tools.include, tools.exclude, tools.exclude_categories"
    )
    assert suggestion("nowhere.x", SETTINGS_BY_NAME) == ""
    assert suggestion("providers.mine.bas_url", SETTINGS_BY_NAME) == "; did you mean 'providers.mine.base_url'?"
    assert suggestion("providers.mine.zzz", SETTINGS_BY_NAME).startswith("; known are providers.mine.base_url, ")
