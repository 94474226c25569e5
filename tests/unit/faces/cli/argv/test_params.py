import os
from pathlib import Path

import click
import pytest

from fakes.program import Program
from fakes.real_app import add_messages, real_scope
from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.faces.cli.argv.params import (
    ACCESS_OPTIONS,
    COMPLETERS,
    GRANTABLE_EFFECTS,
    complete_choice,
    complete_conversation,
    complete_list,
    complete_parameter,
    complete_path,
    option_with_completion,
)
from marid.faces.click_command import Completer
from marid.faces.flags import ACCESS_FLAGS, FLAGS, MODEL, NUMBER, SECONDS, TEXT


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
    assert of_home(complete_conversation("-", "new"), "", tmp_path) == ["-", "new", "work"]
    assert of_home(complete_conversation("-"), "w", tmp_path) == ["work"]


def test_things_settings_and_tools(tmp_path: Path) -> None:
    assert of_home(COMPLETERS["thing"], "tod", tmp_path) == ["todos"]
    assert of_home(COMPLETERS["setting"], "storage.b", tmp_path) == ["storage.bytes_per_token="]
    assert of_home(COMPLETERS["tool"], "get_tr", tmp_path) == ["get_tree"]
    assert of_home(COMPLETERS["tools"], "read_file,get_tr", tmp_path) == ["read_file,get_tree"]


@pytest.mark.parametrize(
    "args",
    [
        *(
            ["say", "-C", "", "hello"],
            ["resume", ""],
            ["inbox", ""],
            ["inbox", "a", ""],
            ["log", ""],
            ["log", "-f", ""],
        ),
        *(
            ["clear", ""],
            ["export", ""],
            ["inspect", "", "fuel"],
            ["inspect", "-C", "", "fuel"],
            ["config", "show", "-C", ""],
        ),
        *(["set", "-C", "", "fuel", "3"], ["conversations", "show", ""], ["conversations", "switch", ""]),
        *(["conversations", "rename", "", "b"], ["conversations", "rename", "a", ""], ["conversations", "archive", ""]),
        *(["conversations", "restore", ""], ["conversations", "destroy", "", "--yes"]),
        *(["conversations", "expire", "", "--at", "5"],),
    ],
)
def test_a_name_that_is_written_and_empty_means_no_conversation(marid: Program, args: list[str]) -> None:
    told = marid(*args)
    assert (told.code, told.out) == (2, b"")
    assert "'' cannot be the name of a conversation: it is empty" in told.err
    assert not Path(os.environ["MARID_HOME"]).exists()


def test_a_name_that_is_left_out_means_the_current_one(marid: Program) -> None:
    assert "'default' has no entries yet" in marid("log").err
    assert marid("conversations", "show").code == 0
    assert "'work' has no entries yet" in marid("-C", "work", "log").err + marid("-C", "work", "-g0").err


def test_there_is_an_offer_for_every_kind_of_value_that_a_shell_can_know() -> None:
    kinds = {value.kind for flag in FLAGS for value in flag.values}
    assert kinds - {*COMPLETERS} == {TEXT, NUMBER, SECONDS, MODEL}


def test_what_tools_may_do_is_said_alike_everywhere() -> None:
    assert tuple(option.name for option in ACCESS_OPTIONS) == ACCESS_FLAGS
    assert option_with_completion("allow").opts == ["--allow"]
