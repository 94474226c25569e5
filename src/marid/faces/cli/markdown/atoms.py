"""Pieces of a line that are read as a whole: markup, which stays as it is, and references to footnotes."""

LONGEST_TAG = 1000
LONGEST_FOOTNOTE = 100


def tag_end(text: str, start: int) -> int | None:
    """Where the markup that begins here ends; 0 if it is none, None as long as that depends on what follows."""
    if not _opens_tag(text[start + 1 : start + 2]):
        return 0
    piece = text[start : start + LONGEST_TAG]
    return _end(start, piece, LONGEST_TAG, ">") if "<" not in piece[1:].partition(">")[0] else 0


def footnote_end(text: str, start: int) -> int | None:
    """The same for a reference to a footnote."""
    if text[start + 1 : start + 2] not in ("", "^"):
        return 0
    piece = text[start : start + LONGEST_FOOTNOTE]
    name = piece[2:].partition("]")[0]
    if any(char in name for char in " \t[^") or piece[2:3] == "]":
        return 0
    return _end(start, piece, LONGEST_FOOTNOTE, "]")


def _opens_tag(char: str) -> bool:
    return char == "" or char in "/!?" or (char.isascii() and char.isalpha())


def _end(start: int, piece: str, most: int, close: str) -> int | None:
    place = piece.find(close)
    if place > 0:
        return start + place + 1
    return None if len(piece) < most else 0
