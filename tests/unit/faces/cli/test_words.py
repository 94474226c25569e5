from pathlib import Path

import click

from fakes.spoken import said, workbench
from marid.core.policy import HARMLESS, Effect
from marid.faces.cli import words
from marid.faces.cli.words import ASKED_FOR, Offer, one_of, path, some_of, value_of


def offered(offer: Offer | None, typed: str) -> list[tuple[str, str]]:
    assert offer is not None
    command = click.Command("x")
    return [(item.value, item.type) for item in offer(click.Context(command), click.Option(["--x"]), typed)]


def test_the_last_word_of_a_list_is_completed_and_none_twice() -> None:
    assert offered(some_of(["write", "exec"]), "") == [("write", "plain"), ("exec", "plain")]
    assert offered(some_of(["write", "exec"]), "write,") == [("write,exec", "plain")]
    assert offered(some_of(["write", "exec"]), "write,x") == []


def test_only_effects_that_are_asked_for_can_be_granted() -> None:
    assert {Effect(name) for name in ASKED_FOR} == set(Effect) - HARMLESS


def test_one_word_is_completed_by_its_beginning() -> None:
    assert offered(one_of(["bash", "zsh"]), "z") == [("zsh", "plain")]


def test_a_path_is_the_business_of_the_shell() -> None:
    assert offered(path("dir"), "sr") == [("sr", "dir")]


def test_the_schema_of_a_parameter_says_what_its_value_may_be() -> None:
    assert offered(value_of({"enum": ["top", "after"]}), "t") == [("top", "plain")]
    assert offered(value_of({"type": "boolean"}), "f") == [("false", "plain")]
    assert offered(value_of({"type": "string", "format": "project-path-to-write"}), "a") == [("a", "file")]
    assert value_of({"type": "string"}) is None


def of_home(offer: Offer, typed: str, place: Path) -> list[str]:
    ctx = click.Context(click.Command("x"), obj=lambda: workbench(place))
    return [item.value for item in offer(ctx, click.Option(["--x"]), typed)]


def test_names_and_the_words_that_mean_one(tmp_path: Path) -> None:
    said(workbench(tmp_path), "work", "x")
    assert of_home(words.conversations("-", "new"), "", tmp_path) == ["-", "new", "work"]
    assert of_home(words.conversations("-"), "w", tmp_path) == ["work"]


def test_things_settings_and_tools(tmp_path: Path) -> None:
    assert of_home(words.things, "tod", tmp_path) == ["todos"]
    assert of_home(words.settings, "storage.b", tmp_path) == ["storage.bytes_per_token="]
    assert of_home(words.tools, "get_tr", tmp_path) == ["get_tree"]
