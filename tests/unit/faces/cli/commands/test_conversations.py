import json
import os
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.real_app import add_messages
from marid.bootstrap.wiring import open_request


def names() -> list[str]:
    folder = Path(os.environ["MARID_HOME"], "contexts")
    return sorted(os.listdir(folder)) if folder.exists() else []


@pytest.fixture
def two(marid: Program) -> Program:
    """With the conversations `a` and `b`."""
    for name in ("a", "b"):
        add_messages(open_request(), name, "hello")
    return marid


def test_alone_it_lists(two: Program) -> None:
    quick, listed = two("conversations"), two("conversations", "list")
    clicked = two("-s", "fuel=5", "conversations")
    assert quick == listed == clicked
    assert [line.split()[0] for line in quick.lines] == ["a", "b", "*"]
    assert [row["name"] for row in json.loads(two("conversations", "list", "--json").text)] == ["a", "b"]
    assert [row["name"] for row in json.loads(two("--json", "conversations").text)] == ["a", "b"]


def test_one_is_shown(two: Program) -> None:
    assert two("conversations", "show", "a").lines[:2] == ["a", "  messages   1"]
    assert two("-C", "b", "conversations", "show").lines[0] == "b"
    assert json.loads(two("conversations", "show", "a", "--json").text)["messages"] == 1
    assert two("conversations", "show").lines == ["default", "  messages   0"]


def test_switching_renaming_archiving_restoring(two: Program) -> None:
    assert "'a' is the current" in two("conversations", "switch", "a").err
    assert "renamed 'a' to 'c'" in two("conversations", "rename", "c").err
    assert "renamed 'b' to 'd'" in two("conversations", "rename", "b", "d").err
    assert names() == ["c", "d"]
    assert "archived 'c'" in two("conversations", "archive").err
    assert two("conversations").lines[0].startswith("* c [archived]")
    assert two("conversations", "restore", "c").code == 0
    assert two("conversations", "archive", "gone").code == 4


def test_destroying_and_ending(two: Program) -> None:
    assert two("conversations", "destroy", "a").code == 3
    assert two("conversations", "destroy", "a", "--yes").code == 0
    assert names() == ["b"]
    assert two("conversations", "expire", "b", "--at", "1").code == 0
    assert two("conversations").lines == ["* default  not used yet"]
    assert two("conversations", "expire", "b").code == 2
    assert names() == []


@pytest.mark.parametrize(
    "args",
    [
        *(["show", "../x"], ["switch", "a/b"], ["switch", "new:"], ["rename", ".."], ["rename", "../x", "y"]),
        *(["rename", "a", "b", "c"], ["archive", "/"], ["restore", "system"], ["destroy", "a b", "--yes"]),
        *(["expire", "ö", "--at", "5"], ["nonsense"], ["rename"], ["list", "--nonsense"]),
    ],
)
def test_what_is_wrong_makes_nothing(marid: Program, args: list[str]) -> None:
    told = marid("conversations", *args)
    assert (told.code, told.out) == (2, b"")
    assert not os.path.exists(os.environ["MARID_HOME"])


def test_one_that_has_come_to_its_end_is_gone_before_anything_is_done_with_the_current_one(two: Program) -> None:
    """The defect: commands took the name first, and so spoke to, or made anew, one that was about to be destroyed."""
    for command in (["set", "fuel", "3"], ["conversations", "show"], ["log"], ["say", "hello"], ["resume"]):
        two("-c", "a", "-x")
        two("conversations", "expire", "a", "--at", "1")
        two(*command)
        assert "a" not in names(), command
        assert two("conversations", "list").lines[-1].startswith("* default"), command


def test_the_one_that_is_named_before_a_command_is_the_one_that_is_renamed(two: Program) -> None:
    assert "renamed 'b' to 'c'" in two("-C", "b", "conversations", "rename", "c").err
    assert names() == ["a", "c"]
    assert two("-C", "a", "conversations", "rename", "c", "d").code == 2


@pytest.mark.parametrize("command", ["switch", "expire"])
def test_a_name_that_is_missing_is_told(two: Program, command: str) -> None:
    told = two("conversations", command)
    assert (told.code, "Missing argument" in told.err) == (2, True)


@pytest.mark.parametrize(
    "args",
    [
        ("conversations", "destroy", "--yes"),
        ("conversations", "archive"),
        ("conversations", "rename", "x"),
        ("clear",),
        ("-d", "--yes"),
        ("-a",),
        ("-r", "x"),
    ],
)
def test_who_means_one_that_has_come_to_its_end_does_not_change_another(two: Program, args: tuple[str, ...]) -> None:
    add_messages(open_request(), "default", "hello")
    two("-c", "a", "-x")
    two("conversations", "expire", "a", "--at", "1")
    told = two(*args)
    assert (told.code, "'a' has expired and was deleted; name" in told.err) == (4, True)
    assert names() == ["b", "default"]
