import click

from marid.core.policy import HARMLESS, Effect
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
