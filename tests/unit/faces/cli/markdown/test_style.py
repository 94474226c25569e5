"""Colours by name and by number."""

from marid.core.colours import NAMES, is_colour
from marid.faces.cli.markdown.style import Style, background, foreground


def test_every_default_is_a_colour() -> None:
    assert all(is_colour(colour) for colour in vars(Style()).values())


def test_every_name_of_the_palette_has_its_parameters() -> None:
    assert all(foreground(name).isdecimal() and background(name) for name in NAMES)


def test_text_and_ground_have_their_parameters() -> None:
    assert foreground("red") == "31"
    assert foreground("bright_red") == "91"
    assert foreground("#0102ff") == "38;2;1;2;255"


def test_text_can_be_read_on_every_ground() -> None:
    assert background("black") == "97;40"
    assert background("bright_yellow") == "30;103"
    assert background("#000010") == "97;48;2;0;0;16"
    assert background("#ffffff") == "30;48;2;255;255;255"


def test_a_heading_has_the_colour_of_its_level() -> None:
    style = Style(h1="red", h6="blue")
    assert (style.heading(1), style.heading(6)) == ("red", "blue")
