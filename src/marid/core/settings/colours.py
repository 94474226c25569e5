"""The colours that a terminal setting may have: names of the palette, or #RRGGBB."""

from marid.core.suggestions import close_matches

BASIC = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
BRIGHT = tuple(f"bright_{name}" for name in BASIC)
GREYS = ("grey", "gray", "dim")
NAMES = (*BASIC, *BRIGHT, *GREYS)
COLOUR_HELP = f"#RRGGBB or one of {', '.join((*BASIC, f'{BRIGHT[0]} to {BRIGHT[-1]}', 'grey', 'dim'))}"
_HEX = frozenset("0123456789abcdefABCDEF")


def is_colour(text: str) -> bool:
    """Whether this is a name of the palette, or #RRGGBB."""
    return text in NAMES or (len(text) == 7 and text[0] == "#" and _HEX.issuperset(text[1:]))


def nearest_colours(text: str) -> list[str]:
    """The name that may have been meant, if one is close."""
    return close_matches(text.lower().replace("-", "_").replace(" ", "_"), NAMES)
