"""How layers become one: what replaces, what grows, what excludes what, and what a project may do."""

from typing import Any

import pytest

from fakes.settings import SettingsFiles
from marid.bootstrap.settings.layer import Layer, SettingsDiagnostics, SetValue, merge_layers
from marid.core.errors import BadInput
from marid.core.settings.values import settings_by_key


def layer(origin: str, **values: Any) -> Layer:
    return {name: SetValue(value, origin) for name, value in values.items()}


def test_the_stronger_value_replaces_and_brings_its_origin() -> None:
    merged = merge_layers((layer("a", fuel=1, username="x"), layer("b", fuel=2)))
    assert merged == {"fuel": (2, "b"), "username": ("x", "a")}


def test_of_effort_and_tokens_in_one_layer_the_tokens_count_with_a_note(place: SettingsFiles) -> None:
    place.config('[api.reasoning]\neffort = "high"\nmax_tokens = 100\n')
    found = place.resolve()
    assert found.settings.model.api["reasoning"] == {"max_tokens": 100}
    assert found.notes == (f"{place.home / 'config.toml'}: api.reasoning.max_tokens overrides api.reasoning.effort",)


def test_verdicts_are_merged_key_by_key_so_that_a_layer_loosens_only_what_it_names(place: SettingsFiles) -> None:
    place.config('[policy]\nexec = "deny"\nwrite = "ask"\n[policy.tools]\nrun_shell = "deny"\n')
    place.local('[policy]\nwrite = "allow"\n[policy.tools]\ngrep_files = "allow"\n')
    assert place.resolve().settings.tools.policy == {
        "exec": "deny",
        "write": "allow",
        "tools": {"run_shell": "deny", "grep_files": "allow"},
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [('[policy]\nwrite = "maybe"\n', "'write' must be .*, not 'maybe'"),
     ('policy = "allow"\n', "'policy' must be a table of verdicts, not 'allow'"),
     ("[policy]\nwrite = true\n", "'write' must be .*, not True"),
     ('outside = "allow"\n', "'outside' must be ask or deny, not 'allow'")],
)  # fmt: skip
def test_another_verdict_is_refused(place: SettingsFiles, text: str, words: str) -> None:
    place.config(text)
    with pytest.raises(BadInput, match=words):
        place.load()


@pytest.mark.parametrize(
    ("name", "own", "users", "together"),
    [
        ("max_size_mb", "5", "2", 2.0), ("max_size_mb", "5", "9", 5.0),
        ("fuel", "5", "2", 2), ("fuel", "5", "9", 5), ("fuel", "5", "0", 5), ("fuel", "0", "9", 9),
        ("fuel", "0", "0", 0),
        ("context_window_limit", "500", "0", 500), ("context_window_limit", "500", "400", 400),
        ("reflection_character_limit", "5", "0", 0), ("reflection_character_limit", "0", "7", 0),
        ("no_tool_calls", "true", "false", True), ("no_tool_calls", "false", "true", True),
        ("mask", "true", "false", True), ("mask", "false", "true", True),
        ("outside", '"deny"', '"ask"', "deny"), ("outside", '"ask"', '"deny"', "deny"),
        ("rules", '["!secret/", " !*.pem"]', '["*.md"]', ("*.md", "!secret/", " !*.pem")),
    ],
)  # fmt: skip
def test_a_project_may_tighten_and_not_loosen(
    place: SettingsFiles, name: str, own: str, users: str, together: object
) -> None:
    place.config(f"{name} = {users}\n")
    place.marid_toml(f"{name} = {own}\n")
    assert settings_by_key(place.load())[name] == together


def test_where_a_project_changes_nothing_the_origin_stays(place: SettingsFiles) -> None:
    place.config("fuel = 2\n")
    place.marid_toml("fuel = 5\nno_tool_calls = true\n")
    origins = place.resolve().origins
    assert origins["fuel"] == str(place.home / "config.toml")
    assert origins["no_tool_calls"] == str(place.project / ".marid.toml")


def test_a_project_may_exclude_tools_and_include_none(place: SettingsFiles) -> None:
    place.config('tools.exclude = ["a"]\n')
    place.marid_toml('[tools]\nexclude = ["b", "a"]\nexclude_categories = ["net"]\n')
    assert place.load().tools.selection == {"exclude": ("a", "b"), "exclude_categories": ("net",)}
    place.marid_toml('\n[tools]\ninclude = ["b"]\n')
    with pytest.raises(BadInput, match=r"\.marid\.toml:3: 'tools\.include' may not be set by a project"):
        place.load()


def test_a_project_may_not_include_files(place: SettingsFiles) -> None:
    place.marid_toml('rules = ["!a", "*.env"]\n')
    with pytest.raises(BadInput, match=r"'rules' of a project may only exclude \(start with '!'\), not '\*.env'"):
        place.load()


@pytest.mark.parametrize(
    "line",
    ['encoding = "x"', 'clone_host = "x"', 'api_key = "k"', 'model = "m"', 'base_url = "http://x"', 'provider = "x"',
     "api.temperature = 1", "storage.bytes_per_token = 1", 'roots = ["/"]', 'files = ["/"]', 'net_allow = ["x"]',
     'providers.x.api_key = "k"', "warn_threshold_percent = 1",
     "fuel_empty_response_cost = 0", "lock_heartbeat_seconds = 1", 'username = "u"'],
)  # fmt: skip
def test_a_project_may_set_nothing_else(place: SettingsFiles, line: str) -> None:
    place.marid_toml(f"{line}\n")
    with pytest.raises(BadInput, match=r"\.marid\.toml:1: '[a-z_.]+' may not be set by a project"):
        place.load()
    place.marid_toml('file_tools_allowed_paths = ["/"]\n')
    with pytest.raises(BadInput, match=r"'files' may not be set by a project"):
        place.load()


def test_the_policy_of_a_project_is_kept_apart_so_that_it_can_only_narrow(place: SettingsFiles) -> None:
    place.config('[policy]\nwrite = "ask"\n')
    place.marid_toml('[policy]\nwrite = "allow"\nexec = "deny"\n')
    place.local('[policy]\nexec = "allow"\n')
    found = place.resolve()
    assert found.settings.tools.policy == {"write": "ask", "exec": "allow"}
    assert found.settings.tools.project_policy == {"write": "allow", "exec": "deny"}


def test_a_conversation_s_own_file_and_flags_stand_above_the_project(place: SettingsFiles) -> None:
    place.marid_toml("fuel = 5\nno_tool_calls = true\n")
    place.local("fuel = 50\n")
    found = place.resolve({"no_tool_calls": False})
    assert (found.settings.conversation.fuel, found.settings.tools.no_tool_calls) == (50, False)


def test_so_many_problems_are_told_and_no_more() -> None:
    findings = SettingsDiagnostics()
    findings.raise_problems()
    findings.problems += [str(number) for number in range(50)]
    with pytest.raises(BadInput, match=r"  49\n  and perhaps more$"):
        findings.raise_problems()
