import click
import pytest

from marid.bootstrap.wiring import open_request
from marid.faces.click_command import HelpCommand, click_option
from marid.faces.flags import FLAGS, find_flag
from marid.faces.help_page import full_help_page, help_page
from marid.launch.commands import COMMANDS, command_groups, summaries
from marid.launch.program import find_command


def pages(width: int) -> list[str]:
    """The help of every command and of those inside it."""
    found: list[str] = []
    todo = [(name, find_command(name)) for name in COMMANDS]
    for name, command in todo:
        assert command is not None
        with command.make_context(
            f"marid {name}", [], obj=open_request, resilient_parsing=True, terminal_width=width
        ) as ctx:
            found.append(command.get_help(ctx))
        if isinstance(command, click.Group):
            todo += [(f"{name} {inner}", one) for inner, one in command.commands.items()]
    return found


@pytest.mark.parametrize("width", [44, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = [line for page in pages(width) for line in page.splitlines() if len(line) > width]
    # The usage of a flag, or a command line, cannot be broken.
    assert [line for line in wide if not line.lstrip().startswith(("-", "marid", "git", "eval", "~/"))] == []


def test_no_word_is_broken_or_lost() -> None:
    for narrow, broad in zip(pages(44), pages(120), strict=True):
        assert narrow.split() == broad.split()


def test_examples_stand_below_the_text() -> None:
    page = pages(80)[0]
    assert "Send a prompt and print the answer." in page
    assert page.index("Examples:\n  marid say") < page.index("Options:")


@pytest.mark.parametrize(
    ("option", "said"),
    [("--timout", "'--timout'. Did you mean '--timeout'?"), ("--trst", "'--trst'."), ("--mask", "'--mask'.")],
)
def test_an_unknown_option_meets_near_misses_only_and_none_that_grants_rights(option: str, said: str) -> None:
    names = ("--timeout", "--trust", "--no-mask")
    command = HelpCommand("x", params=[click.Option([name], is_flag=True) for name in names])
    with pytest.raises(click.NoSuchOption) as caught:
        command.make_context("x", [option])
    assert caught.value.format_message().endswith(said)


def short(width: int) -> str:
    return help_page(summaries(), command_groups(), width=width)


def test_the_short_page_fits_one_screen_with_every_command_and_ten_flags() -> None:
    page = short(80)
    assert page.count("\n") < 40
    words = page.split()
    assert [name for name in COMMANDS if name not in words] == []
    everyday = [flag for flag in FLAGS if flag.everyday]
    assert len(everyday) == 10
    assert [flag.usage for flag in everyday if f"  {flag.usage}" not in page] == []
    assert "--help-all" in page


def test_the_full_page_has_every_flag_and_every_command() -> None:
    page = full_help_page(summaries(), width=100)
    assert [flag.usage for flag in FLAGS if f"  {flag.usage}" not in page] == []
    assert [name for name, entry in COMMANDS.items() if f"  {name} " not in page or entry.summary not in page] == []
    letters = page.partition("Short forms")[2]
    assert "-L, --list-contexts" in letters
    assert "--model MODEL" not in letters


@pytest.mark.parametrize("width", [44, 60, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken(width: int) -> None:
    for page in (short(width), full_help_page(summaries(), width=width)):
        rows = [line for line in page.splitlines() if line.startswith("  ")]
        # A usage, or a word, that is longer than the page stands alone.
        assert [line for line in rows if len(line) > width and len(line.split("  ")) > 2] == []
        assert [line for line in page.splitlines() if len(line) > width and not line.startswith("  ")] == []
        assert {word for text in summaries().values() for word in text.split()} - set(full_words(width)) == set()


def full_words(width: int) -> list[str]:
    return full_help_page(summaries(), width=width).split()


def test_a_usage_that_is_too_long_has_a_line_of_its_own() -> None:
    lines = full_help_page(summaries(), width=80).splitlines()
    at = lines.index("  -M, --set-model-for-context NAME MODEL")
    assert lines[at + 1].strip() == "Same, for conversation NAME."


def test_a_program_without_commands_shows_none() -> None:
    page = help_page({}, {}, "chibi", 80)
    assert page.startswith("Usage: chibi ")
    assert "Commands:" not in page + full_help_page({}, "chibi", 80)


@pytest.mark.parametrize("name", ["trust", "allow", "model", "debug", "roots"])
def test_an_option_is_what_the_flag_is(name: str) -> None:
    flag, option = find_flag(name), click_option(name)
    assert (option.name, option.opts, option.help) == (name, list(flag.spellings), flag.help)
    assert (option.is_flag, option.multiple) == (not flag.values, flag.many)


def test_a_command_may_know_it_by_another_name_too() -> None:
    command = click.Command("say", params=[click_option("username", "--username")])
    for spelling in ("-U", "--ephemeral-username", "--username"):
        assert command.make_context("say", [spelling, "Ada"]).params == {"username": "Ada"}
