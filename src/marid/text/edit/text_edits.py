"""Replace and insert lines, or replace an exact text, explaining why it was not found or is ambiguous."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from marid.core.errors import BadInput

# Hints are only for texts of a size that a model writes.
_MAX_HINTED = 10_000
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
TextRange: TypeAlias = tuple[int, int]
"""Positions in a text, the end excluded."""


def split_lines(text: str) -> list[str]:
    """The lines with their endings; the last may have none."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def usual_line_ending(text: str) -> str:
    """The ending of most lines."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def with_line_endings(text: str, ending: str) -> str:
    """The text with this ending for all lines."""
    plain = text.replace("\r\n", "\n")
    return plain if ending == "\n" else plain.replace("\n", ending)


def check_line_range(start: int, end: int, names: tuple[str, str] = ("start_line", "end_line")) -> None:
    """Raises: BadInput for a range that is empty or starts before line 1."""
    if start < 1:
        raise BadInput(f"{names[0]} is {start}: lines are counted from 1")
    if end < start:
        raise BadInput(f"{names[1]} ({end}) is before {names[0]} ({start})")


def check_start_line(start: int, total: int, name: str = "start_line") -> None:
    """Raises: BadInput for a line after the last of `total` lines."""
    if start > total:
        has = "is empty" if not total else f"has {total} line{'s' if total > 1 else ''}"
        raise BadInput(f"{name} {start} is beyond the end: the file {has}")


def replace_lines(text: str, start: int, end: int, new: str) -> str:
    """Replace lines `start` to `end`, or to the last one; an empty `new` deletes them.

    New lines get the ending of the others; the last gets one if a line follows or the replaced one had one.
    Raises: BadInput for lines that do not exist.
    """
    check_line_range(start, end)
    lines = split_lines(text)
    check_start_line(start, len(lines))
    old, after = lines[start - 1 : end], lines[end:]
    ending = usual_line_ending(text)
    new = with_line_endings(new, ending)
    if new and not new.endswith("\n") and (after or old[-1].endswith("\n")):
        new += ending
    return "".join([*lines[: start - 1], new, *after])


def insert_lines(text: str, at: int, new: str) -> str:
    """Insert lines before line `at`, which may be one after the last. Raises: BadInput."""
    lines = split_lines(text)
    check_start_line(at - 1, len(lines), "line")
    ending = usual_line_ending(text)
    before, after = "".join(lines[: at - 1]), lines[at - 1 :]
    return "".join([end_last_line(before, ending), end_last_line(with_line_endings(new, ending), ending), *after])


def end_last_line(text: str, ending: str) -> str:
    """The text with an ending for its last line; an empty text stays empty."""
    return text if not text or text.endswith("\n") else text + ending


class Substitution(NamedTuple):
    """The new text and the numbers of the changed lines."""

    text: str
    lines: list[int]


def substitute(text: str, old: str, new: str, *, every: bool) -> Substitution:
    """Replace `old`, which must occur once unless `every`, by `new`.

    If the exact bytes are not found, `\\r\\n` and `\\n` are the same; `new` gets the line endings of what it replaces.
    Raises: BadInput if `old` is empty, absent, unchanged or repeated.
    """
    if not old:
        raise BadInput("old_string is empty: give the text to replace, or use write_file for a new file")
    if old == new:
        raise BadInput("old_string and new_string are the same: nothing would change")
    spans, exact = _find_ranges(text, old)
    if not spans:
        raise BadInput(_explain_absence(text, old))
    if len(spans) > 1 and not every:
        where = ", ".join(str(_line_number(text, start)) for start, _ in spans[:10])
        where += ", ..." if len(spans) > 10 else ""
        raise BadInput(
            f"old_string occurs {len(spans)} times (lines {where}): add surrounding text to make it unique, "
            "or set replace_all"
        )
    return _apply(text, spans, new, verbatim=exact and "\r" in old + new)


def substitute_first(text: str, old: str, new: str) -> Substitution:
    """Replace the first `old` by `new`. Raises: BadInput if `old` is empty, absent or unchanged."""
    if not old:
        raise BadInput("the text to find is empty")
    spans, exact = _find_ranges(text, old)
    if not spans:
        raise BadInput(_explain_absence(text, old, "the text to find"))
    return _apply(text, spans[:1], new, verbatim=exact and "\r" in old + new)


def _find_ranges(text: str, old: str) -> tuple[list[TextRange], bool]:
    """Where `old` occurs, and whether exactly."""
    # The line feed of `\r\n` alone is half a line ending, so no match may start there.
    exact = [span for span in _occurrences(text, old) if old[0] != "\n" or text[span[0] - 1 : span[0]] != "\r"]
    return exact or _loose_occurrences(text, old), bool(exact)


def _apply(text: str, spans: list[TextRange], new: str, *, verbatim: bool) -> Substitution:
    """Replace the ranges; unless `verbatim`, `new` gets the line endings of what it replaces."""
    usual = usual_line_ending(text)
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        ending = usual_line_ending(old) if "\n" in (old := text[start:end]) else usual
        pieces += [text[at:start], new if verbatim else with_line_endings(new, ending)]
        at = end
    made = "".join([*pieces, text[at:]])
    if made == text:
        raise BadInput("the new text is the same as the old: nothing would change")
    passed = accumulate(text.count("\n", before, at) for before, at in pairwise([0, *(start for start, _ in spans)]))
    return Substitution(made, [count + 1 for count in passed])


def _occurrences(text: str, old: str) -> Iterator[TextRange]:
    at = text.find(old)
    while at >= 0:
        yield at, at + len(old)
        at = text.find(old, at + len(old))


def _loose_occurrences(text: str, old: str) -> list[TextRange]:
    """Where `old` occurs if `\\r\\n` and `\\n` are the same, in positions of the original text."""
    if "\n" not in old:
        return []
    pieces = text.split("\r\n")
    if len(pieces) == 1 and "\r\n" not in old:
        return []
    # A position in the normalized text is one less than the original for each ending shortened before it.
    shortened = [end - 1 for end in accumulate(len(piece) + 1 for piece in pieces[:-1])]

    def original_position(position: int) -> int:
        return position + bisect_right(shortened, position - 1)

    found = _occurrences("\n".join(pieces), old.replace("\r\n", "\n"))
    return [(original_position(start), original_position(end)) for start, end in found]


def _line_number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _line_of_words(text: str, old: str) -> int | None:
    """The line where the words of `old` follow each other with any white space between them."""
    words = " ".join(text.split())
    at = words.find(" ".join(old.split()))
    if at < 0:
        return None
    before = words.count(" ", 0, at)
    passed = accumulate(len(line.split()) for line in text.split("\n"))
    return next(number for number, count in enumerate(passed, 1) if count > before)


def _explain_absence(text: str, old: str, name: str = "old_string") -> str:
    """Why `old` was not found, and where something similar is."""
    reason = f"{name} is not in the file"
    if len(old) > _MAX_HINTED or not old.strip():
        return reason
    if (line := _line_of_words(text, old)) is not None:
        return f"{reason}; with other white space or line endings it is at line {line}"
    if (at := text.translate(_QUOTES).find(old.translate(_QUOTES))) >= 0:
        return f"{reason}; with other quotation marks it is at line {_line_number(text, at)}"
    if (at := text.lower().find(old.lower())) >= 0 and len(text.lower()) == len(text):
        return f"{reason}; in other case it is at line {_line_number(text, at)}"
    first = next(line.strip() for line in old.split("\n") if line.strip())
    if "\n" in old.strip() and (at := text.find(first)) >= 0:
        return f"{reason}; its first line is at line {_line_number(text, at)}, but what follows differs"
    return f"{reason}: read it again, it may have changed"
