from pathlib import Path

import click

from fakes.real_app import add_messages, real_scope
from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.faces.cli.argv import completion_values
from marid.faces.cli.argv.completion_values import (
    GRANTABLE_EFFECTS,
    Completer,
    complete_choice,
    complete_list,
    complete_parameter,
    complete_path,
)


def offered(offer: Completer | None, typed: str) -> list[tuple[str, str]]:
    assert offer is not None
    command = click.Command("x")
    return [(item.value, item.type) for item in offer(click.Context(command), click.Option(["--x"]), typed)]


def test_the_last_word_of_a_list_is_completed_and_none_twice() -> None:
    assert offered(complete_list(["write", "exec"]), "") == [("write", "plain"), ("exec", "plain")]
    assert offered(complete_list(["write", "exec"]), "write,") == [("write,exec", "plain")]
    assert offered(complete_list(["write", "exec"]), "write,x") == []


def test_only_effects_that_are_asked_for_can_be_granted() -> None:
    assert {Effect(name) for name in GRANTABLE_EFFECTS} == set(Effect) - HARMLESS_EFFECTS


def test_one_word_is_completed_by_its_beginning() -> None:
    assert offered(complete_choice(["bash", "zsh"]), "z") == [("zsh", "plain")]


def test_a_path_is_the_business_of_the_shell() -> None:
    assert offered(complete_path("dir"), "sr") == [("sr", "dir")]


def test_the_schema_of_a_parameter_says_what_its_value_may_be() -> None:
    assert offered(complete_parameter({"enum": ["top", "after"]}), "t") == [("top", "plain")]
    assert offered(complete_parameter({"type": "boolean"}), "f") == [("false", "plain")]
    assert offered(complete_parameter({"type": "string", "format": "project-path-to-write"}), "a") == [("a", "file")]
    assert complete_parameter({"type": "string"}) is None


def of_home(offer: Completer, typed: str, place: Path) -> list[str]:
    ctx = click.Context(click.Command("x"), obj=lambda: real_scope(place))
    return [item.value for item in offer(ctx, click.Option(["--x"]), typed)]


def test_names_and_the_words_that_mean_one(tmp_path: Path) -> None:
    add_messages(real_scope(tmp_path), "work", "x")
    assert of_home(completion_values.complete_conversation("-", "new"), "", tmp_path) == ["-", "new", "work"]
    assert of_home(completion_values.complete_conversation("-"), "w", tmp_path) == ["work"]


def test_things_settings_and_tools(tmp_path: Path) -> None:
    assert of_home(completion_values.complete_inspectable, "tod", tmp_path) == ["todos"]
    assert of_home(completion_values.complete_setting, "storage.b", tmp_path) == ["storage.bytes_per_token="]
    assert of_home(completion_values.complete_tool, "get_tr", tmp_path) == ["get_tree"]
