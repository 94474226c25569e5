"""Colours of the settings, the text inside a block, and the columns of a table."""

import pytest
from rich.color import Color

from marid.core.settings.colours import NAMES
from marid.core.settings.schema import SETTINGS
from marid.faces.cli.view.markdown_text import InlineParser, fit_widths, has_room, is_dark, make_console


def test_every_setting_has_a_style_and_every_colour_can_be_one() -> None:
    keys = [one.name.rpartition(".")[2] for one in SETTINGS if one.kind == "colour"]
    for colour in (*NAMES, "#0102ff"):
        console = make_console(dict.fromkeys(keys, colour))
        assert all(console.get_style(f"markdown.{key}").color for key in keys)


@pytest.mark.parametrize(("colour", "dark"), [("black", True), ("#000010", True), ("#ffffff", False), ("white", False)])
def test_text_can_be_read_on_every_ground(colour: str, dark: bool) -> None:
    assert is_dark(Color.parse(colour)) is dark
    code = make_console({"code_bg": colour}).get_style("markdown.code")
    assert str(code) == f"{'bright_white' if dark else 'black'} on {colour}"


def test_marks_become_styles_and_html_stays_text() -> None:
    text = InlineParser().parse("**a** *b* ~~c~~ `d` <b>e</b> note[^1] \\*f\\* &amp;\nnext  \nline")
    assert text.plain == "a b c d <b>e</b> note[^1] *f* &\nnext\nline"
    styles = {str(span.style): text.plain[span.start : span.end] for span in text.spans}
    assert styles == {
        "markdown.strong": "a",
        "markdown.em": "b",
        "markdown.s": "c",
        "markdown.code": "d",
        "markdown.footnote": "[^1]",
    }


def test_an_image_inside_a_link_shows_both_addresses() -> None:
    assert InlineParser().parse("[![a](b)](c)").plain == "[image] a (b) (c)"


def test_narrow_columns_keep_their_width_and_wide_ones_share_the_rest() -> None:
    assert fit_widths([3, 50, 60], 23) == [3, 10, 10]
    assert fit_widths([3, 4], 30) == [3, 4]
    assert fit_widths([0, 5], 1) == [1, 1]
    assert has_room(3, 13)
    assert not has_room(3, 12)
