from pathlib import Path

import pytest

from fakes.real_app import add_messages, add_note, real_scope
from marid.app.app import RequestScope
from marid.app.inspection import UNSET, check_inspectable, inspect, inspectable_names, setting_keys
from marid.bootstrap.wiring import open_request
from marid.core.errors import BadInput
from marid.engine.system_prompt import BASE_PROMPT


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    return real_scope(tmp_path)


def configured(tmp_path: Path, text: str) -> RequestScope:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    return open_request(cwd=str(tmp_path), home=str(home), environ={"HOME": str(tmp_path)})


@pytest.mark.parametrize("thing", ["reflection", "todos", "goals", "summary"])
def test_notes_are_told_and_so_is_that_there_are_none(scope: RequestScope, thing: str) -> None:
    assert inspect(scope, "never-used", thing) == UNSET
    add_note(scope, "a", thing, "- one\n- two\n")
    assert inspect(scope, "a", thing) == "- one\n- two"


def test_the_prompt_is_its_own_else_that_of_the_home_else_ours(scope: RequestScope) -> None:
    assert inspect(scope, "a", "prompt") == inspect(scope, "a", "system_prompt") == BASE_PROMPT
    prompts = Path(scope.home, "prompts")
    prompts.mkdir(parents=True)
    (prompts / "chibi.md").write_text("Of the home.")
    assert inspect(scope, "a", "system_prompt") == "Of the home."
    add_note(scope, "a", "system_prompt", "Its own.")
    assert inspect(scope, "a", "system_prompt") == "Its own."


def test_the_whole_prompt_is_what_a_model_would_be_told(scope: RequestScope) -> None:
    Path(scope.cwd, "AGENTS.md").write_text("Use tabs.")
    unused = inspect(scope, "a", "whole_prompt")
    assert "the conversation 'a'" in unused
    assert "Use tabs." in unused
    add_note(scope, "a", "todos", "- tidy")
    assert "- tidy" in inspect(scope, "a", "whole_prompt")


def test_the_home_and_the_list_of_things(scope: RequestScope) -> None:
    assert inspect(scope, "", "home") == scope.home
    assert inspect(scope, "", "list").splitlines() == list(inspectable_names())


def test_every_setting_can_be_asked_for(scope: RequestScope) -> None:
    assert {"fuel", "storage.bytes_per_token", "api.reasoning.effort", "tools.exclude", "verbose"} <= set(
        setting_keys()
    )
    assert [key for key in setting_keys() if not inspect(scope, "a", key)] == []


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        ("api_key", "(set)"),
        ("providers.mine.api_key", "(set)"),
        ("providers.mine.model", "small"),
        ("providers.other.model", UNSET),
        ("warn_threshold_percent", "75"),
        ("no_tool_calls", "true"),
        ("tools.exclude", "run_shell, web_search"),
        ("api.temperature", "0.5"),
        ("api.seed", UNSET),
        ("model", "big"),
        ("policy", '{exec = "deny"}'),
        ("max_recursion_depth", "30"),
        ("context_window_limit", "0"),
    ],
)
def test_values_are_in_words_and_secrets_are_not_told(tmp_path: Path, thing: str, words: str) -> None:
    text = (
        'provider = "openai"\nmodel = "big"\napi_key = "sk-secret"\nwarn_threshold_percent = 75.0\n'
        "no_tool_calls = true\n"
        '[tools]\nexclude = ["run_shell", "web_search"]\n[api]\ntemperature = 0.5\n[policy]\nexec = "deny"\n'
        '[providers.mine]\nbase_url = "http://localhost/v1"\napi_key = "sk-other"\nmodel = "small"\n'
    )
    assert inspect(configured(tmp_path, text), "a", thing) == words


def test_a_table_is_told_by_its_keys(scope: RequestScope) -> None:
    assert "storage.bytes_per_token = 3" in inspect(scope, "a", "storage").splitlines()
    assert inspect(scope, "a", "providers") == UNSET


def test_a_setting_is_told_as_it_counts_in_that_conversation(scope: RequestScope) -> None:
    add_messages(scope, "a", "x")
    Path(scope.home, "contexts/a/local.toml").write_text("fuel = 7\n")
    assert (inspect(scope, "a", "fuel"), inspect(scope, "b", "fuel")) == ("7", "30")


def test_what_is_no_thing_is_told_with_what_was_meant() -> None:
    with pytest.raises(BadInput, match="did you mean 'todos'"):
        check_inspectable("todo")
    with pytest.raises(BadInput, match="`list` prints all"):
        check_inspectable("zzzzzz")
    check_inspectable("prompt")
