"""The colours of rendered markdown, and what a terminal is told for each."""

from dataclasses import dataclass
from functools import cache

from marid.core.colours import BASIC, BRIGHT, GREYS

# By name: what is added to 30 for the text and to 40 for the ground.
_PALETTE = {
    **{name: number for number, name in enumerate(BASIC)},
    **{name: 60 + number for number, name in enumerate(BRIGHT)},
    **dict.fromkeys(GREYS, 60),
}
_DARK = {"black", "red", "blue", "magenta", "bright_black", *GREYS}
_HALF_BRIGHT = 128_000  # of 255 * 1000, by the weights below


@dataclass(frozen=True, kw_only=True)
class Style:
    """One colour for each part; the settings have checked it. The defaults can be read on dark and on light ground."""

    h1: str = "bright_magenta"
    h2: str = "magenta"
    h3: str = "cyan"
    h4: str = "blue"
    h5: str = "green"
    h6: str = "grey"
    code_bg: str = "black"
    code_label: str = "grey"
    bullet: str = "cyan"
    table_header_bg: str = "blue"
    table_border: str = "grey"
    blockquote_border: str = "green"
    think_border: str = "grey"
    hr: str = "grey"
    link_url: str = "blue"
    image_marker: str = "magenta"
    footnote: str = "cyan"

    def heading(self, level: int) -> str:
        """The colour of headings of this level, 1 to 6."""
        return (self.h1, self.h2, self.h3, self.h4, self.h5, self.h6)[level - 1]


@cache
def foreground(colour: str) -> str:
    """The parameters of the escape sequence that gives text this colour."""
    if colour in _PALETTE:
        return str(30 + _PALETTE[colour])
    return "38;2;{};{};{}".format(*_rgb(colour))


@cache
def background(colour: str) -> str:
    """The parameters for this ground, with a text colour that can be read on it whatever the terminal's own is."""
    if colour in _PALETTE:
        return f"{'97' if colour in _DARK else '30'};{40 + _PALETTE[colour]}"
    red, green, blue = _rgb(colour)
    dark = 299 * red + 587 * green + 114 * blue < _HALF_BRIGHT
    return f"{'97' if dark else '30'};48;2;{red};{green};{blue}"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
