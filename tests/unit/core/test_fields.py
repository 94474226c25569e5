from dataclasses import fields

from marid.core.chat import Parameters, Thinking
from marid.core.conversation import Storage
from marid.core.fields import (
    API,
    BY_NAME,
    DISPLAY_BY_NAME,
    EFFORTS,
    STORAGE,
    display_of,
    flattened,
    setting_of,
    suggestion,
)


def test_the_keys_of_api_are_the_parameters_of_a_request() -> None:
    own = {one.name.removeprefix("api.") for one in API if not one.name.startswith("api.reasoning.")}
    assert own == {field.name for field in fields(Parameters)}
    thinking = {name.removeprefix("api.reasoning.") for name in BY_NAME if name.startswith("api.reasoning.")}
    assert thinking == {field.name for field in fields(Thinking)}
    assert "medium" in EFFORTS


def test_the_keys_of_storage_are_the_store_s() -> None:
    assert {one.name.removeprefix("storage.") for one in STORAGE} == {*Storage._fields} - {"lock_heartbeat_seconds"}


def test_a_setting_is_found_by_each_of_its_names() -> None:
    fuel = setting_of("fuel")
    assert fuel is not None
    assert setting_of("max_recursion_depth") == fuel
    assert setting_of("nothing") is None
    assert display_of("verbose") is DISPLAY_BY_NAME["verbose"]
    assert display_of("fuel") is None


def test_a_provider_may_have_any_id() -> None:
    key = setting_of("providers.work.api_key")
    assert key is not None
    assert (key.name, key.secret) == ("providers.work.api_key", True)
    table = setting_of("providers.work")
    assert table is not None
    assert table.kind == "table"
    assert [setting_of(name) for name in ("providers.", "providers.a.b", "providers.a.model.x")] == [None] * 3


def test_tables_become_names_with_dots_in_whichever_way_they_came() -> None:
    values = {
        "api": {"reasoning": {"effort": "low"}},
        "storage": '{"bytes_per_token": 2}',
        "api.seed": "3",
        "x": {"y": 1},
    }
    assert dict(flattened(values)) == {
        "api.reasoning.effort": "low",
        "storage.bytes_per_token": 2,
        "api.seed": 3,
        "x": {"y": 1},
    }
    assert dict(flattened({"api": None, "policy": {"exec": "ask"}, "fuel": "x"})) == {
        "api": None,
        "policy": {"exec": "ask"},
        "fuel": "x",
    }


def test_what_was_meant_is_looked_for_in_the_same_table() -> None:
    assert suggestion("modle", BY_NAME) == "; did you mean 'model'?"
    assert suggestion("api.reasoning.efort", BY_NAME) == "; did you mean 'api.reasoning.effort'?"
    assert suggestion("tools.zzz", BY_NAME) == "; known are tools.include, tools.exclude, tools.exclude_categories"
    assert suggestion("nowhere.x", BY_NAME) == ""
    assert suggestion("providers.mine.bas_url", BY_NAME) == "; did you mean 'providers.mine.base_url'?"
    assert suggestion("providers.mine.zzz", BY_NAME).startswith("; known are providers.mine.base_url, ")
