"""Globs for one path component as in git's wildmatch: `*`, `?`, classes, escapes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "a-fA-F0-9",
}
_SPECIAL = re.compile(r"[\\*?\[]")
_STAR = ".*"


class NameGlob(NamedTuple):
    """How to match a name, cheapest first: it equals `name`, it ends with `suffix` from its last dot, or by `regex`.

    `per_character`: the regex depends on whether a character is a byte or a letter. `hint`: a text in every name that
    matches the regex, or "".
    """

    name: str | None = None
    suffix: str | None = None
    regex: str | None = None
    per_character: bool = False
    hint: str = ""

    @property
    def is_wild(self) -> bool:
        """Whether more than one name can match."""
        return self.name is None


ANY_NAME = NameGlob(regex=_STAR)


def parse_glob(text: str) -> NameGlob | None:
    """Parse a glob; None for one that never matches in git."""
    if not _SPECIAL.search(text):
        return NameGlob(name=text) if text else None
    if text.startswith("*.") and text.rfind(".") == 1 and len(text) > 2 and not _SPECIAL.search(text, 1):
        return NameGlob(suffix=text[1:])
    try:
        pieces = list(_pieces(text))
    except _InvalidGlob:
        return None
    if all(piece.literal for piece in pieces):
        return NameGlob(name="".join(piece.text for piece in pieces))
    # The hint has ASCII characters only: others may be composed differently in a name.
    runs = "".join(piece.text if piece.literal and piece.text.isascii() else "/" for piece in pieces).split("/")
    per_character = any(piece.per_character for piece in pieces)
    return NameGlob(regex=_to_regex(pieces), per_character=per_character, hint=max(runs, key=len))


class _InvalidGlob(Exception):
    """The pattern ends inside an escape or a class."""


class _GlobPiece(NamedTuple):
    """A literal character, or a regex for one character, or the star."""

    text: str
    literal: bool = False
    per_character: bool = False


def _pieces(text: str) -> Iterator[_GlobPiece]:
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "\\":
            if at == len(text):
                raise _InvalidGlob
            yield _GlobPiece(text[at], literal=True)
            at += 1
        elif char == "*":
            if text[at : at + 1] != "*":
                yield _GlobPiece(_STAR)
        elif char == "?":
            yield _GlobPiece(".", per_character=True)
        elif char == "[":
            piece, at = _parse_bracket(text, at)
            yield piece
        else:
            yield _GlobPiece(char, literal=True)


def _to_regex(pieces: list[_GlobPiece]) -> str:
    runs = [""]
    for piece in pieces:
        if piece.text == _STAR:
            runs.append("")
        else:
            runs[-1] += re.escape(piece.text) if piece.literal else piece.text
    # Atomic groups: the text between two stars matches at its first place only, or many stars would take forever.
    # Without them for the last two stars, which is faster for usual patterns.
    early = "".join(f"(?>.*?{run})" for run in runs[1:-2])
    return runs[0] + early + "".join(_STAR + run for run in runs[1:][-2:])


def _parse_bracket(text: str, at: int) -> tuple[_GlobPiece, int]:
    """The regex of the bracket expression after the `[` before `at`, and the index after it."""
    negated = text.startswith(("!", "^"), at)
    at += negated
    members: list[str] = []
    first = True
    while first or text[at : at + 1] != "]":
        first = False
        name, end = _class_name(text, at)
        if name is not None:
            members.append(_POSIX[name])
            at = end
            continue
        low, at = _bracket_member(text, at)
        members.append(re.escape(low))  # also by itself: `[z-a]` matches only `z`
        if text.startswith("-", at) and text[at + 1 : at + 2] not in ("]", ""):
            high, at = _bracket_member(text, at + 1)
            if low <= high:
                members.append(f"{re.escape(low)}-{re.escape(high)}")
    inside = "".join(members)
    return _GlobPiece(f"[{'^' if negated else ''}{inside}]", per_character=negated or not inside.isascii()), at + 1


def _class_name(text: str, at: int) -> tuple[str | None, int]:
    """The name of the POSIX class at `at`, or None, and the index after it."""
    if not text.startswith("[:", at):
        return None, at
    end = text.find("]", at + 2)
    if end < 0:
        raise _InvalidGlob
    if end == at + 2 or text[end - 1] != ":":
        return None, at
    if text[at + 2 : end - 1] not in _POSIX:
        raise _InvalidGlob
    return text[at + 2 : end - 1], end + 1


def _bracket_member(text: str, at: int) -> tuple[str, int]:
    """One unescaped character of a bracket expression, and the index after it."""
    at += text.startswith("\\", at)
    if at >= len(text):
        raise _InvalidGlob
    return text[at], at + 1


def split_pattern(text: str) -> list[tuple[str, bool]]:
    """Split `text` at slashes outside of brackets; empty if a bracket is never closed.

    With each component comes whether the slash after it has a backslash.
    """
    parts: list[tuple[str, bool]] = []
    start = at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            if text.startswith("/", at + 1):
                parts.append((text[start:at], True))
                start = at + 2
            at += 2
        elif char == "[":
            try:
                _, at = _parse_bracket(text, at + 1)
            except _InvalidGlob:
                return []
        else:
            if char == "/":
                parts.append((text[start:at], False))
                start = at + 1
            at += 1
    return [*parts, (text[start:], False)]
