"""Find and show characters that would deceive a person who must judge a text."""

import re
from functools import cache

# Printable according to Unicode, but invisible.
_BLANK_LOOKING = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_INVISIBLE = "\u00ad\u180e\u200b-\u200d\u2028\u2029\u2060-\u2065\ufeff\U000e0000-\U000e007f" + _BLANK_LOOKING
_DIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LATIN = "A-Za-z\u00c0-\u024f"
# Alphabets with letters that look Latin. Of Greek only those letters: the others are used in formulas.
_GREEK = "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
_LOOKALIKES = _GREEK + "\u0400-\u058f\u13a0-\u13ff\uab70-\uabbf"


@cache
def _compile(characters: str) -> re.Pattern[str]:
    return re.compile(characters)


def escape_invisible(line: str) -> str:
    """The line with invisible and unprintable characters as escapes; tabs stay."""
    if line.isascii() and line.isprintable():
        return line
    blanks = _compile(f"[{_BLANK_LOOKING}]")
    return "".join(
        char if char == "\t" or (char.isprintable() and not blanks.match(char)) else ascii(char)[1:-1] for char in line
    )


def find_deceptive(text: str) -> tuple[str, ...]:
    """The kinds of deceptive characters in a text; line endings and tabs are not deceptive."""
    if _compile(r"[\t\n\x20-\x7e]*").fullmatch(text):
        return ()
    kinds = {
        "control characters": r"[\x00-\x08\x0b-\x1f\x7f-\x9f]",
        "characters that turn the direction of text": f"[{_DIRECTIONAL}]",
        "invisible characters": f"[{_INVISIBLE}]",
        "unusual spaces": "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]",
        "characters that belong to no text": "[\ud800-\udfff\ue000-\uf8ff]",
        "letters of several alphabets in one word": f"[{_LATIN}][{_LOOKALIKES}]|[{_LOOKALIKES}][{_LATIN}]",
    }
    return tuple(words for words, pattern in kinds.items() if _compile(pattern).search(text))
