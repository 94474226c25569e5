"""The colours that a terminal can be told by name, and those that are told by number. Imported when one is set."""

BASIC = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
BRIGHT = tuple(f"bright_{name}" for name in BASIC)
GREYS = ("grey", "gray", "dim")
NAMES = (*BASIC, *BRIGHT, *GREYS)
COLOUR_HELP = f"#RRGGBB or one of {', '.join((*BASIC, f'{BRIGHT[0]} to {BRIGHT[-1]}', 'grey', 'dim'))}"
"""What is a colour, in words."""
_HEX = frozenset("0123456789abcdefABCDEF")


def is_colour(text: str) -> bool:
    """Whether this is a name of the palette, or #RRGGBB."""
    return text in NAMES or (len(text) == 7 and text[0] == "#" and _HEX.issuperset(text[1:]))


def nearest_colour(text: str) -> str:
    """The name that may have been meant; empty where none is near."""
    import difflib  # imported when used: only a mistake needs it

    return "".join(difflib.get_close_matches(text.lower().replace("-", "_").replace(" ", "_"), NAMES, 1))
