import pytest

from marid.core.errors import BadInput
from marid.faces.cli.argv.flag_settings import parse_assignment, settings_from


def test_settings_are_pairs_at_the_first_sign() -> None:
    assert settings_from({"sets": ("a=b=c", "d=")}) == {"a": "b=c", "d": ""}


def test_a_flag_that_means_one_setting_is_stronger() -> None:
    given = {"sets": ("model=x", "fuel=3"), "model": "y", "include": ("a,b", "c"), "exclude": (), "no_tool_calls": True}
    assert settings_from(given) == {"model": "y", "fuel": "3", "no_tool_calls": True, "tools.include": ("a", "b", "c")}


@pytest.mark.parametrize("text", ["fuel", "=3", "sk-secret"])
def test_what_is_no_pair_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(BadInput, match=r"-s takes KEY=VALUE$"):
        parse_assignment(text)


def test_an_empty_name_is_given_too_and_is_left_to_the_check() -> None:
    assert settings_from({"username": ""}) == {"username": ""}
    assert settings_from({"username": None, "model": None}) == {}
