from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.faces.cli.argv.option_tables import OPTIONS, parse_options
from marid.faces.cli.commands.context import command

FLAGS = [flag for option in OPTIONS for flag in option.flags]
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
VALUES = WORDS | st.sampled_from(["text", "json", "-", "--", "-x", "3", "1.5", "a=b", ".", "", "-0", "--diff", "diff"])
ARGUMENTS = st.lists(
    st.sampled_from(FLAGS)
    | VALUES
    | st.builds("{}={}".format, st.sampled_from(FLAGS), VALUES)
    | st.builds("{}{}".format, st.sampled_from(FLAGS), VALUES)
    | st.sampled_from(["--help", "-h", "-lq", "-ofile", "--outpu", "-r"]),
    max_size=6,
)

DEFAULTS: dict[str, Any] = parse_options([]) or {}


def by_click(args: list[str]) -> dict[str, Any]:
    with command.make_context("context", list(args)) as ctx:
        return ctx.params


@settings(max_examples=500, deadline=None)
@given(ARGUMENTS)
def test_the_quick_parser_agrees_with_click_on_all_that_it_takes(args: list[str]) -> None:
    quick = parse_options(args)
    if quick is not None:
        assert quick == by_click(args)


def test_click_s_defaults_are_ours() -> None:
    assert by_click([]) == DEFAULTS


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["src", "-l"], {"targets": ("src",), "list_only": True}),
        (["-o", "out", "--rule", "a", "-r", "!b", "--rule=c"], {"output": "out", "rules": ("a", "!b", "c")}),
        (["--format", "xml", "-q", "-"], {"form": "xml", "quiet": True, "targets": ("-",)}),
        (["--diff", "."], {"diff": "", "targets": (".",)}),
        (["--diff", "HEAD~1", "src"], {"diff": "HEAD~1", "targets": ("src",)}),
        (["--diff=HEAD~1", "src"], {"diff": "HEAD~1", "targets": ("src",)}),
        (["--files-from", "-"], {"files_from": "-"}),
        (["--config=-x"], {"config": "-x"}),
        (["-o", "a", "-o", "b"], {"output": "b"}),
        (["--budget", "5", "--log=3"], {"budget": 5, "log": 3}),
    ],
)
def test_a_plain_command_line_needs_no_click(args: list[str], found: dict[str, Any]) -> None:
    assert parse_options(args) == DEFAULTS | found == by_click(args)


@pytest.mark.parametrize(
    "args",
    [
        *(["--help"], ["--unknown"], ["-lq"], ["-ofile"], ["-o=file"], ["--list-only=yes"], ["--format", "yaml"]),
        *(["--rule"], ["--rule", "-x"], ["--budget", "-5"], ["--max-size-mb", "5"], ["--", "x"]),
    ],
)
def test_anything_else_is_left_to_click(args: list[str]) -> None:
    assert parse_options(args) is None


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["--budget", "5", "--log=3", "--max-size-mb", "1.5"], {"budget": 5, "log": 3, "max_size_mb": 1.5}),
        (["--budget", "5", "--diff", "."], {"budget": 5, "diff": "", "targets": (".",)}),
        (["--budget", "5", "--diff", "main"], {"budget": 5, "diff": "main"}),
        (["--diff", "--budget", "5"], {"budget": 5, "diff": ""}),
        (["-lq", "--", "--diff", "-x"], {"list_only": True, "quiet": True, "targets": ("--diff", "-x")}),
    ],
)
def test_click_reads_the_same_options(args: list[str], found: dict[str, Any]) -> None:
    assert by_click(args) == DEFAULTS | found


@pytest.mark.parametrize("args", [["--budget", "x"], ["--format", "yaml"], ["--list-only=yes"]])
def test_click_refuses_what_is_wrong(args: list[str]) -> None:
    with pytest.raises(click.UsageError):
        by_click(args)


def test_every_option_has_a_name_of_its_own_and_says_what_it_is_for() -> None:
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
    assert len(set(FLAGS)) == len(FLAGS)
    assert all(option.help.endswith((".", ")")) for option in OPTIONS)
