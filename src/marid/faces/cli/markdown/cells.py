"""How many columns of a terminal a text takes, and where it may be broken."""

from functools import lru_cache

_JOINER = "\u200d"
_REMEMBERED = 4096


def cells(text: str) -> int:
    """Columns that `text` takes: wide characters two, marks on other characters none."""
    return len(text) if text.isascii() else sum(map(_char_cells, text))


@lru_cache(_REMEMBERED)
def _char_cells(char: str) -> int:
    import unicodedata

    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@lru_cache(_REMEMBERED)
def _opens(char: str) -> bool:
    """A new line may begin before this wide character: all but those that close something."""
    import unicodedata

    if "\uac00" <= char <= "\ud7a3":  # Korean has spaces between words
        return False
    return _char_cells(char) == 2 and unicodedata.category(char) not in ("Pe", "Pf", "Po", "Lm", "Sk", "Zs")


def may_break(before: str, after: str) -> bool:
    """A line may end between these two characters although no space is there."""
    if (before.isascii() and after.isascii()) or before == _JOINER:
        return False
    if _opens(after):
        return not _holds(before)
    return _opens(before) and after.isalnum()


@lru_cache(_REMEMBERED)
def _holds(char: str) -> bool:
    """What follows this character stays with it, as after an opening bracket."""
    import unicodedata

    return unicodedata.category(char) in ("Ps", "Pi")
