from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fakes.pipe import check_schema, fits
from marid.bootstrap.settings.settings_resolver import resolve_settings
from marid.core.errors import BadInput
from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, UNSUPPORTED_KEYS
from marid.faces.pipe.input_schema import (
    COMMAND_FIELDS,
    COMMANDS_WITHOUT_FIELDS,
    PLANNED_COMMANDS,
    check_input,
    config_schema,
    input_schema,
    unknown_key_notes,
)
from marid.faces.pipe.json_request import merge_settings

SCHEMA = input_schema()


def asking(command: Any, **more: Any) -> dict[str, Any]:
    return {"command": command, "context": "default", **more}


GOOD: list[dict[str, Any]] = [
    *(asking(name) for name in COMMANDS_WITHOUT_FIELDS),
    asking({"send_prompt": {"prompt": "hi"}}),
    asking({"destroy_context": {}}),
    asking({"destroy_context": {"name": "x"}}),
    asking({"archive_history": {"name": None}}),
    asking({"rename_context": {"new": "x"}}),
    asking({"rename_context": {"old": "y", "new": "x"}}),
    asking({"show_log": {"count": -3}}),
    asking({"show_log": {"context": "x", "count": 0}}),
    asking({"inspect": {"thing": "anything at all"}}),
    asking({"set_system_prompt": {"prompt": ""}}),
    asking({"set_model": {"context": None, "model": "openai:m"}}),
    asking({"call_tool": {"name": "grep", "args": []}}),
    asking({"call_tool": {"name": "grep", "args": ['{"a":', "1}"]}}),
    asking({"check_inbox": {"context": "x"}}),
    asking({"model_metadata": {"model": "m", "full": False}}),
    asking("no_op", flags={}, home="/tmp", project_root="/tmp", config={}, overrides={}),
    asking("no_op", flags=None, home=None, project_root=None, config=None, overrides=None),
    asking("no_op", flags={"force_call_agent": True, "debug": ["request_log", "all"], "destroy_at": 5, "trust": True}),
    asking("no_op", flags={"force_call_user": False, "destroy_after_seconds_inactive": 0, "debug": []}),
    *(asking("no_op", context=name) for name in ("news", "-a", "systems", "x" * 100)),
    asking("no_op", config={"model": "m", "api": {"temperature": 1}}, overrides={"fuel": "3"}),
    # A program may mark its requests with keys of its own.
    asking("no_op", request_id=7),
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"command": "no_op"}, "'context' is missing"),
    ({"context": "x"}, "'command' is missing"),
    ({"command": "no_op", "context": {"switch": {"name": "x"}}}, "'context' must be a string"),
    ({"command": "no_op", "context": None}, "'context' must be a string"),
    ({"command": "no_op", "context": "../x"}, "cannot be the name"),
    ({"command": "no_op", "context": "SYSTEM"}, "cannot be the name"),
    ({"command": "no_op", "context": "x" * 101}, "cannot be the name"),
    *(({"command": "no_op", "context": name}, "cannot be the name") for name in ("x\n", "new", "-", "new\n", "")),
    (asking("no_op", flags={"verbose": True}), "unknown key 'flags.verbose'"),
    (asking("no_op", flags={"trust": 1}), "'flags.trust' must be true or false"),
    (asking("no_op", flags={"debug": ["md"]}), "request_log or response_meta or all"),
    (asking("no_op", flags={"debug": "all"}), "'flags.debug' must be an array"),
    (asking("no_op", flags={"destroy_at": -1}), "at least 0"),
    (asking("no_op", flags={"destroy_at": 10**13}), "at most"),
    (asking("no_op", home=""), "'home' must be the path of a folder"),
    (asking("no_op", project_root="a\0b"), "'project_root' must be the path of a folder"),
    (asking("no_op", overrides={"fuel": 3}), "'overrides.fuel' must be a string"),
    (asking("no_op", config={"modell": "m"}), "did you mean 'model'"),
    (asking("no_opp"), "unknown command 'no_opp'; did you mean 'no_op'"),
    (asking("xyzzy"), "commands: list_contexts"),
    (asking("send_prompt"), "has fields"),
    (asking({"no_op": {}}), "has no fields"),
    (asking({"no_op": None}), "has no fields"),
    (asking({}), "its only key"),
    (asking({"send_prompt": {"prompt": "x"}, "no_op": None}), "its only key"),
    (asking(["no_op"]), "its only key"),
    (asking(None), "its only key"),
    (asking({"send_prompt": {"prompt": " \n"}}), "not blank"),
    (asking({"send_prompt": {}}), "'command.send_prompt.prompt' is missing"),
    (asking({"send_prompt": "hi"}), "'command.send_prompt' must be an object"),
    (asking({"send_prompt": {"prompt": "x", "model": "m"}}), "unknown key"),
    (asking({"destroy_context": {"name": "a/b"}}), "cannot be the name"),
    (asking({"rename_context": {"new": "system"}}), "cannot be the name"),
    (asking({"rename_context": {"old": "x"}}), "new' is missing"),
    (asking({"check_inbox": {"context": None}}), "must be a string"),
    (asking({"show_log": {"count": "3"}}), "must be a whole number"),
    (asking({"call_tool": {"name": "grep", "args": {}}}), "must be an array"),
    (asking({"model_metadata": {"model": "m"}}), "full' is missing"),
    *((asking(name), f"'{name}' is not supported yet") for name in PLANNED_COMMANDS),
    *((asking({name: {}}), f"'{name}' is not supported yet") for name in PLANNED_COMMANDS),
]


@pytest.mark.parametrize("given", GOOD)
def test_what_the_schema_allows_is_taken(given: dict[str, Any]) -> None:
    assert fits(given, SCHEMA)
    check_input(given)


@pytest.mark.parametrize(("given", "words"), BAD)
def test_what_the_schema_does_not_allow_is_told(given: dict[str, Any], words: str) -> None:
    assert not fits(given, SCHEMA)
    with pytest.raises(BadInput, match=words):
        check_input(given)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_command_is_tried_here() -> None:
    tried = {given["command"] if isinstance(given["command"], str) else next(iter(given["command"])) for given in GOOD}
    assert tried == {*COMMANDS_WITHOUT_FIELDS, *COMMAND_FIELDS}


def test_a_key_of_the_whole_input_that_nobody_knows_is_told_of() -> None:
    assert unknown_key_notes(asking("no_op", home=None)) == ()
    assert unknown_key_notes(asking("no_op", overides={}, x=1)) == (
        "unknown key 'overides' is ignored; did you mean 'overrides'?",
        "unknown key 'x' is ignored",
    )


SHAPE = config_schema()

GOOD_CONFIGS: list[dict[str, Any]] = [
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
BAD_CONFIGS: list[dict[str, Any]] = [
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


@pytest.mark.parametrize("config", GOOD_CONFIGS)
def test_what_the_schema_allows_the_settings_take(config: dict[str, Any], tmp_path: Path) -> None:
    assert fits(config, SHAPE)
    check_schema(config, SHAPE, "config")
    resolve_settings(str(tmp_path), {}, str(tmp_path), flags=merge_settings(config, {}))


@pytest.mark.parametrize("config", BAD_CONFIGS)
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
