import click
import pytest

from marid.faces.flag_options import option_of
from marid.faces.flags import flag_named


@pytest.mark.parametrize("name", ["trust", "allow", "model", "debug", "roots"])
def test_an_option_is_what_the_flag_is(name: str) -> None:
    flag, option = flag_named(name), option_of(name)
    assert (option.name, option.opts, option.help) == (name, list(flag.spellings), flag.help)
    assert (option.is_flag, option.multiple) == (not flag.values, flag.many)


def test_a_command_may_know_it_by_another_name_too() -> None:
    command = click.Command("say", params=[option_of("username", "--username")])
    for spelling in ("-U", "--ephemeral-username", "--username"):
        assert command.make_context("say", [spelling, "Ada"]).params == {"username": "Ada"}
