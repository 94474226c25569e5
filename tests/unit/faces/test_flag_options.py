import click
import pytest

from marid.faces.flag_options import click_option
from marid.faces.flags import find_flag


@pytest.mark.parametrize("name", ["trust", "allow", "model", "debug", "roots"])
def test_an_option_is_what_the_flag_is(name: str) -> None:
    flag, option = find_flag(name), click_option(name)
    assert (option.name, option.opts, option.help) == (name, list(flag.spellings), flag.help)
    assert (option.is_flag, option.multiple) == (not flag.values, flag.many)


def test_a_command_may_know_it_by_another_name_too() -> None:
    command = click.Command("say", params=[click_option("username", "--username")])
    for spelling in ("-U", "--ephemeral-username", "--username"):
        assert command.make_context("say", [spelling, "Ada"]).params == {"username": "Ada"}
