"""What the schema says of `config` is what the settings take."""

from pathlib import Path
from typing import Any

import pytest

from fakes.pipe import fits
from marid.bootstrap.settings.settings_resolver import resolve_settings
from marid.core.errors import BadInput
from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, UNSUPPORTED_KEYS
from marid.faces.json_input import check_schema
from marid.faces.pipe.config_schema import config_schema
from marid.faces.pipe.json_request import merge_settings

SHAPE = config_schema()

GOOD: list[dict[str, Any]] = [
    {},
    {"model": "m", "provider": "openai", "api_key": "k", "base_url": "http://x/v1", "username": "ann", "fuel": 0},
    {"api": {"temperature": 0, "max_tokens": 5, "stop": "END", "reasoning": {"effort": "low"}, "seed": -1}},
    {"api": {"temperature": 2, "stop": ["a", "b"], "tool_choice": "none", "top_p": 0.5, "prompt_caching": False}},
    {"api": {"tool_choice": {"type": "function", "function": {"name": "grep"}}, "response_format": {"type": "text"}}},
    {"api": {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}},
    {"tools": {"include": ["grep"], "exclude": [], "exclude_categories": ["net"]}},
    {"storage": {"partition_max_entries": 5, "enable_bloom_filters": False}},
    {"providers": {"mine": {"base_url": "http://x/v1", "api_key": "k", "model": "m"}}},
    {"policy": {"write": "allow", "outside": "ask", "hosts": ["example.org"], "tools": {"run_shell": "deny"}}},
    {"roots": ["/tmp"], "files": [], "outside": "deny", "fallback_tool": "call_agent", "no_tool_calls": True},
    {"context_window_limit": 1000, "warn_threshold_percent": 99.5, "max_recursion_depth": 3},
    {"model": None, "api": None, "fuel": None, "fallback_tool": None, "policy": None},
    {"auto_compact": True, "url_policy": {"default": "deny"}},
]
BAD: list[dict[str, Any]] = [
    {"modell": "m"},
    {"model": 1},
    {"fuel": -1},
    {"fuel": True},
    {"fuel": 10**16},
    {"warn_threshold_percent": 101},
    {"fallback_tool": "call_nobody"},
    {"no_tool_calls": 1},
    {"roots": [1]},
    {"api": {"temperatur": 1}},
    {"api": {"temperature": 3}},
    {"api": {"stop": [""]}},
    {"api": {"stop": ""}},
    {"api": {"tool_choice": "any"}},
    {"api": {"tool_choice": {"type": "function", "function": {}}}},
    {"api": {"response_format": {"type": "xml"}}},
    {"api": {"response_format": {"type": "json_schema"}}},
    {"api": {"reasoning": {"effort": "huge"}}},
    {"api": "x"},
    {"storage": {"partition_max_entries": "many"}},
    {"providers": {"mine": {"url": "http://x/v1"}}},
    {"policy": {"write": "maybe"}},
    {"policy": {"outside": "allow"}},
    {"policy": {"hosts": ["a/b"]}},
    {"lock_heartbeat_seconds": 5},
    {"home": "/tmp"},
    {"verbose": "maybe"},
]


# Flags may be texts of any kind; here every value has its own.
TEXTS: list[dict[str, Any]] = [{"fuel": "3"}, {"roots": "/tmp"}, {"tools": {"include": "grep"}}, {"verbose": True}]


@pytest.mark.parametrize("config", TEXTS)
def test_a_value_must_be_of_its_own_kind(config: dict[str, Any]) -> None:
    assert not fits(config, SHAPE)
    with pytest.raises(BadInput):
        check_schema(config, SHAPE, "config")


@pytest.mark.parametrize("config", GOOD)
def test_what_the_schema_allows_the_settings_take(config: dict[str, Any], tmp_path: Path) -> None:
    assert fits(config, SHAPE)
    check_schema(config, SHAPE, "config")
    resolve_settings(str(tmp_path), {}, str(tmp_path), flags=merge_settings(config, {}))


@pytest.mark.parametrize("config", BAD)
def test_what_the_schema_does_not_allow_the_settings_refuse(config: dict[str, Any], tmp_path: Path) -> None:
    assert not fits(config, SHAPE)
    with pytest.raises(BadInput):
        check_schema(config, SHAPE, "config")
    with pytest.raises(BadInput):
        resolve_settings(str(tmp_path), {}, str(tmp_path), flags=merge_settings(config, {}))


def test_every_setting_that_a_conversation_may_have_is_described() -> None:
    def shape(name: str) -> dict[str, Any] | None:
        found: Any = SHAPE
        for part in name.split("."):
            found = found["additionalProperties"] if part == ANY_PROVIDER else found["properties"].get(part)
            if found is None:
                return None
        return found

    for setting in SETTINGS:
        found = shape(setting.name)
        assert (found is not None) == (setting.per_conversation and not setting.display), setting.name
        assert found is None or setting.kind == "table" or found["description"] == setting.meaning
    assert set(SHAPE["properties"]) >= UNSUPPORTED_KEYS
