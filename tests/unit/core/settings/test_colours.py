"""Colours by name and by number."""

import pytest

from marid.core.settings.colours import is_colour, nearest_colours


@pytest.mark.parametrize("colour", ["black", "bright_red", "grey", "gray", "dim", "#00ffAA"])
def test_a_palette_name_or_six_digits_are_a_colour(colour: str) -> None:
    assert is_colour(colour)


@pytest.mark.parametrize(
    "colour", ["", "Red", "#fff", "#00ff0g", "bright_grey", "#1234567", "#\u0661\u0661\u0661\u0661\u0661\u0661"]
)
def test_nothing_else_is_a_colour(colour: str) -> None:
    assert not is_colour(colour)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("Red", ["red"]), ("brightred", ["bright_red"]), ("bright-blue", ["bright_blue"]), ("", [])]
)
def test_the_nearest_name_is_known(wrong: str, meant: list[str]) -> None:
    assert nearest_colours(wrong) == meant
