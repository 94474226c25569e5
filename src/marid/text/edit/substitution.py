"""Replacing an exact text in a file, and words that help when it is not there or not alone."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from marid.core.errors import BadInput
from marid.text.edit.line_edits import usual_line_ending, with_line_endings

# Looking for what was meant is for texts of a size that a model writes.
_MAX_HINTED = 10_000
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


class TextRange(NamedTuple):
    """From a position to another, the last not included."""

    start: int
    end: int


class Substitution(NamedTuple):
    """The new text, and the lines on which something was replaced."""

    text: str
    lines: list[int]


def substitute(text: str, old: str, new: str, *, every: bool) -> Substitution:
    """`text` with `old`, which must be there once unless `every`, replaced by `new`.

    A line end in `old` stands for either kind where the very bytes are not found, and `new` takes the line ends of
    what it replaces. Raises: BadInput for an `old` that is empty, absent, unchanged or repeated.
    """
    if not old:
        raise BadInput("old_string is empty: give the text to replace, or use write_file for a new file")
    if old == new:
        raise BadInput("old_string and new_string are the same: nothing would change")
    spans, exact = _find_ranges(text, old)
    if not spans:
        raise BadInput(_explain_absence(text, old))
    if len(spans) > 1 and not every:
        lines = [_line_number(text, span.start) for span in spans[:10]]
        where = ", ".join(map(str, lines)) + (", ..." if len(spans) > 10 else "")
        raise BadInput(
            f"old_string occurs {len(spans)} times (lines {where}): add text around it that is found once, "
            "or set replace_all"
        )
    return _apply(text, spans, new, verbatim=exact and "\r" in old + new)


def substitute_first(text: str, old: str, new: str) -> Substitution:
    """`text` with the first `old` replaced by `new`. Raises: BadInput for one that is empty, absent or unchanged."""
    if not old:
        raise BadInput("the text to find is empty")
    spans, exact = _find_ranges(text, old)
    if not spans:
        raise BadInput(_explain_absence(text, old, "the text to find"))
    return _apply(text, spans[:1], new, verbatim=exact and "\r" in old + new)


def _find_ranges(text: str, old: str) -> tuple[list[TextRange], bool]:
    """Where `old` is, and whether just so."""
    # A line feed that ends `\r\n` is half a line end, which nobody means.
    exact = [span for span in _occurrences(text, old) if old[0] != "\n" or text[span.start - 1 : span.start] != "\r"]
    return exact or _loose_occurrences(text, old), bool(exact)


def _apply(text: str, spans: list[TextRange], new: str, *, verbatim: bool) -> Substitution:
    made = _replace_ranges(text, spans, new, verbatim=verbatim)
    if made == text:
        raise BadInput("the new text is the same as the old: nothing would change")
    starts = [0, *(span.start for span in spans)]
    passed = accumulate(text.count("\n", before, at) for before, at in pairwise(starts))
    return Substitution(made, [count + 1 for count in passed])


def _occurrences(text: str, old: str) -> Iterator[TextRange]:
    at = text.find(old)
    while at >= 0:
        yield TextRange(at, at + len(old))
        at = text.find(old, at + len(old))


def _loose_occurrences(text: str, old: str) -> list[TextRange]:
    """Where `old` occurs if `\\r\\n` and `\\n` are one, in positions of `text` as it is."""
    if "\n" not in old:
        return []
    pieces = text.split("\r\n")
    if len(pieces) == 1 and "\r\n" not in old:
        return []
    # A place in the plain text lies further on in the real one, by one for each line end shortened before it.
    shortened: list[int] = []
    at = -1
    for piece in pieces[:-1]:
        at += len(piece) + 1
        shortened.append(at)

    def original_position(place: int) -> int:
        return place + bisect_right(shortened, place - 1)

    found = _occurrences("\n".join(pieces), old.replace("\r\n", "\n"))
    return [TextRange(original_position(span.start), original_position(span.end)) for span in found]


def _replace_ranges(text: str, spans: list[TextRange], new: str, *, verbatim: bool) -> str:
    usual = usual_line_ending(text)
    pieces: list[str] = []
    at = 0
    for span in spans:
        old = text[span.start : span.end]
        ending = usual_line_ending(old) if "\n" in old else usual
        pieces += [text[at : span.start], new if verbatim else with_line_endings(new, ending)]
        at = span.end
    return "".join([*pieces, text[at:]])


def _line_number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _line_of_words(text: str, old: str) -> int | None:
    """Where the words of `old` stand one after the other, whatever white space is between them."""
    words = " ".join(text.split())
    at = words.find(" ".join(old.split()))
    if at < 0:
        return None
    before = words.count(" ", 0, at)
    passed = accumulate(len(line.split()) for line in text.split("\n"))
    return next(number for number, count in enumerate(passed, 1) if count > before)


def _explain_absence(text: str, old: str, called: str = "old_string") -> str:
    """Why `old` was not found, as far as can be told."""
    said = f"{called} is not in the file"
    if len(old) > _MAX_HINTED or not old.strip():
        return said
    if (line := _line_of_words(text, old)) is not None:
        return f"{said}; with other white space or line ends it is at line {line}"
    if (at := text.translate(_QUOTES).find(old.translate(_QUOTES))) >= 0:
        return f"{said}; with other quotation marks it is at line {_line_number(text, at)}"
    if (at := text.lower().find(old.lower())) >= 0 and len(text.lower()) == len(text):
        return f"{said}; in other case it is at line {_line_number(text, at)}"
    first = next(line.strip() for line in old.split("\n") if line.strip())
    if "\n" in old.strip() and (at := text.find(first)) >= 0:
        return f"{said}; its first line is at line {_line_number(text, at)}, but what follows differs"
    return f"{said}: read it again, it may have changed"
