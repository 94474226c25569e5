"""Anchors: find a slice again after the text has changed around it, or a little inside it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest
from typing import NamedTuple, TypeAlias, cast
from zlib import crc32

from marid.core.errors import BadInput

# A rolling hash finds candidates cheaply. The numbers are arbitrary, but stored anchors depend on them.
_PRIME, _BASE = (1 << 61) - 1, 1_000_003
_DIGEST = re.compile(r"([0-9a-f]{16})([0-9a-f]{32})")

# How much of a slice and its surroundings an anchor stores.
_CONTEXT_LINES = 3
_LINE_LENGTH = 300
# Weights of the lines at a border, nearest first. Lines inside weigh more, lines without words less.
_WEIGHTS = (1.0, 0.4, 0.2)
_INSIDE_FACTOR = 1.5
_PUNCTUATION_WEIGHT, _BLANK_WEIGHT = 0.3, 0.1
# The number of characters, without white space, that lines are compared by.
_KEY_LENGTH = 120
_SAME_WORDS, _SIMILAR = 0.95, 0.6
# A line that occurs more often than this does not help to find a place.
_MAX_OCCURRENCES = 200
_MAX_CANDIDATES = 40
# From 0 to 1: the score that a place needs, or the lines inside it otherwise; and its lead over the second best.
_GOOD_SCORE, _GOOD_INSIDE = 0.6, 0.9
_MIN_SCORE, _MIN_INSIDE, _MIN_RANK = 0.2, 0.3, 0.45
_MIN_LEAD = 0.05
_LENGTH_PENALTY = 0.3

_LISTS = ("head", "tail", "before", "after")

LineRange: TypeAlias = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class TextAnchor:
    """A slice as it was: its lines, a hash of its text, and the lines around both its borders, cut if long."""

    start: int
    """First line, from 1."""
    end: int
    """Last line, inclusive."""
    digest: str
    head: tuple[str, ...]
    tail: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    copies: int = 1
    """How often the same text was in the file."""
    rival: float = 0.0
    """How similar the most similar other place was, from 0 to 1: a later match must be more similar."""

    def to_dict(self) -> dict[str, object]:
        """The anchor as JSON values."""
        lines = {name: list(cast("tuple[str, ...]", vars(self)[name])) for name in _LISTS}
        return {**vars(self), **lines}

    @classmethod
    def from_dict(cls, raw: Mapping[str, object]) -> "TextAnchor":
        """Undo `to_dict`. Raises: BadInput if a field is missing or invalid."""
        start, end, digest = raw.get("start"), raw.get("end"), raw.get("digest")
        if not isinstance(start, int) or not isinstance(end, int) or not 1 <= start <= end:
            raise BadInput("an anchor needs 'start' and 'end', the numbers of its first and last line")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise BadInput("an anchor needs 'digest', 48 hexadecimal digits")
        copies, rival = raw.get("copies", 1), raw.get("rival", 0.0)
        if not isinstance(copies, int) or not isinstance(rival, int | float):
            raise BadInput("an anchor's 'copies' and 'rival' are numbers")
        lines = {name: _string_list(raw, name) for name in _LISTS}
        return cls(start=start, end=end, digest=digest, copies=copies, rival=rival, **lines)


def _string_list(raw: Mapping[str, object], name: str) -> tuple[str, ...]:
    values = raw.get(name)
    if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in cast("list[object]", values)):
        raise BadInput(f"an anchor needs '{name}', a list of lines")
    return tuple(cast("list[str]", values))


def anchor_lines(text: str, start: int, end: int) -> TextAnchor:
    """An anchor for lines `start` to `end`, from 1 and inclusive. Raises: BadInput if they do not exist."""
    lines = _split_lines(text)
    if not 1 <= start <= end <= len(lines):
        raise BadInput(f"lines {start} to {end} are not in a text of {len(lines)} lines")
    block = lines[start - 1 : end]
    anchor = TextAnchor(
        start=start,
        end=end,
        digest=f"{_rolling_hashes(block)[-1]:016x}{_strong_hash(block)}",
        head=_clip_lines(block[:_CONTEXT_LINES]),
        tail=_clip_lines(block[-_CONTEXT_LINES:]),
        before=_clip_lines(lines[max(start - 1 - _CONTEXT_LINES, 0) : start - 1]),
        after=_clip_lines(lines[end : end + _CONTEXT_LINES]),
    )
    others = (pair.rank for pair in _score_pairs(lines, anchor) if pair.start != start - 1 and pair.end != end)
    return replace(anchor, copies=len(_identical_starts(lines, anchor)), rival=round(max(others, default=0.0), 3))


def locate_anchor(text: str, anchor: TextAnchor) -> LineRange | None:
    """The first and last line of the slice now; None if it is gone or ambiguous."""
    lines = _split_lines(text)
    return _find_unchanged(lines, anchor) or _find_changed(lines, anchor)


def _split_lines(text: str) -> list[str]:
    """The lines without their endings."""
    return text.removesuffix("\n").split("\n") if text else []


def _clip_lines(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line[:_LINE_LENGTH] for line in lines)


def _rolling_hashes(lines: Sequence[str]) -> list[int]:
    """The hash of every prefix of the lines; two of them give the hash of any block."""
    value, found = 0, [0]
    for line in lines:
        value = (value * _BASE + crc32(line.encode("utf-8", "surrogatepass")) + 1) % _PRIME
        found.append(value)
    return found


def _strong_hash(lines: Sequence[str]) -> str:
    from hashlib import blake2b  # imported on use: few runs make anchors

    return blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _identical_starts(lines: Sequence[str], anchor: TextAnchor) -> list[int]:
    """Where the same text starts, nearest to the old place first; at most `_MAX_OCCURRENCES` places."""
    length = anchor.end - anchor.start + 1
    power, hashes, wanted = pow(_BASE, length, _PRIME), _rolling_hashes(lines), int(anchor.digest[:16], 16)
    found = (
        at for at in range(len(lines) - length + 1) if (hashes[at + length] - hashes[at] * power) % _PRIME == wanted
    )
    return nsmallest(_MAX_OCCURRENCES, found, key=lambda at: abs(at + 1 - anchor.start))


def _find_unchanged(lines: Sequence[str], anchor: TextAnchor) -> LineRange | None:
    """The same text: first where most surroundings match, then nearest to the old place.

    None if there are fewer copies than before: the right one may be among those that changed.
    """
    length, near = anchor.end - anchor.start + 1, _identical_starts(lines, anchor)
    if len(near) < anchor.copies:
        return None
    first, last = _start_border(anchor), _end_border(anchor)
    near.sort(key=lambda at: -first.count_context_matches(lines, at) - last.count_context_matches(lines, at + length))
    places = ((at + 1, at + length) for at in near[:_MAX_CANDIDATES])
    return next((place for place in places if _strong_hash(lines[place[0] - 1 : place[1]]) == anchor.digest[16:]), None)


def _find_changed(lines: Sequence[str], anchor: TextAnchor) -> LineRange | None:
    """The best pair of borders, if it is good enough and clearly better than any other."""
    pairs = nlargest(2, _score_pairs(lines, anchor), key=lambda pair: pair.rank)
    bar = max(anchor.rival, _MIN_RANK, *(pair.rank for pair in pairs[1:]))
    if not pairs or pairs[0].rank < bar + _MIN_LEAD:
        return None
    start, end, score, _ = pairs[0]
    first, last = _start_border(anchor), _end_border(anchor)
    inside = (first.score(lines, start, inside=True) + last.score(lines, end, inside=True)) / 2
    return (start + 1, end) if inside >= (_MIN_INSIDE if score >= _GOOD_SCORE else _GOOD_INSIDE) else None


class _BorderPair(NamedTuple):
    """Two possible borders, how well they match, and that score less a penalty for another length."""

    start: int
    end: int
    score: float
    rank: float


def _score_pairs(lines: Sequence[str], anchor: TextAnchor) -> Iterator[_BorderPair]:
    """The score of each pair of possible borders."""
    first, last = _start_border(anchor), _end_border(anchor)
    keys = {clue.key for clue in (*first.clues, *last.clues)} - {""}
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if (key := _line_key(line)) in keys:
            numbers[key].append(number)
    ends = [(last.score(lines, at), at) for at in last.likely_positions(numbers, len(lines))]
    length = anchor.end - anchor.start + 1
    for start in first.likely_positions(numbers, len(lines)):
        score = first.score(lines, start)
        for other, end in ends:
            if start < end and min(score, other) >= _MIN_SCORE:
                mean, odd = (score + other) / 2, abs(end - start - length) / (end - start + length)
                yield _BorderPair(start, end, mean, mean - _LENGTH_PENALTY * odd)


def _line_key(line: str | None) -> str:
    return "".join((line or "")[:_LINE_LENGTH].split())[:_KEY_LENGTH]


class _Clue(NamedTuple):
    """The line that was `offset` lines from a border; None is the edge of the text."""

    offset: int
    line: str | None
    key: str
    weight: float
    inside: bool


class _Border(NamedTuple):
    """One end of a slice, identified by the lines on both sides of it."""

    clues: tuple[_Clue, ...]

    def score(self, lines: Sequence[str], at: int, *, inside: bool = False) -> float:
        """From 0 to 1: how well the clues, or those inside, match if the border is before line `at`."""
        clues = [clue for clue in self.clues if clue.inside or not inside]
        found = sum(clue.weight * _similarity(clue, _line(lines, at + clue.offset)) for clue in clues)
        return found / sum(clue.weight for clue in clues)

    def count_context_matches(self, lines: Sequence[str], at: int) -> int:
        """How many lines with words outside the slice are where they were."""
        outside = (clue for clue in self.clues if not clue.inside and clue.weight >= _WEIGHTS[-1])
        return sum(_similarity(clue, _line(lines, at + clue.offset)) >= _SAME_WORDS for clue in outside)

    def likely_positions(self, numbers: Mapping[str, Sequence[int]], max_position: int) -> list[int]:
        """Where the border could be, most likely first."""
        votes: dict[int, float] = defaultdict(float)
        for clue in self.clues:
            found = numbers.get(clue.key, ())
            for number in found if len(found) <= _MAX_OCCURRENCES else ():
                votes[number - clue.offset] += clue.weight
        places = (at for at in votes if 0 <= at <= max_position)
        return nsmallest(_MAX_CANDIDATES, places, key=lambda at: (-votes[at], at))


def _start_border(anchor: TextAnchor) -> _Border:
    edge = (None,) if len(anchor.before) < _CONTEXT_LINES else ()
    outside = _make_clues((*reversed(anchor.before), *edge), start=-1, step=-1, factor=1.0)
    return _Border(_make_clues(anchor.head, start=0, step=1, factor=_INSIDE_FACTOR) + outside)


def _end_border(anchor: TextAnchor) -> _Border:
    edge = (None,) if len(anchor.after) < _CONTEXT_LINES else ()
    outside = _make_clues((*anchor.after, *edge), start=0, step=1, factor=1.0)
    return _Border(_make_clues(anchor.tail[::-1], start=-1, step=-1, factor=_INSIDE_FACTOR) + outside)


def _make_clues(lines: Sequence[str | None], *, start: int, step: int, factor: float) -> tuple[_Clue, ...]:
    clues: list[_Clue] = []
    for index, line in enumerate(lines):
        weight = _WEIGHTS[index] * factor
        if line is not None and not any(map(str.isalnum, line)):
            weight *= _PUNCTUATION_WEIGHT if line.strip() else _BLANK_WEIGHT
        clues.append(_Clue(start + step * index, line, _line_key(line), weight, factor == _INSIDE_FACTOR))
    return tuple(clues)


def _line(lines: Sequence[str], number: int) -> str | None:
    return lines[number][:_LINE_LENGTH] if 0 <= number < len(lines) else None


def _similarity(clue: _Clue, line: str | None) -> float:
    """1 for the same line, less for other white space, still less for similar words, else 0."""
    if clue.line == line:
        return 1.0
    if line is None or clue.line is None:
        return 0.0
    if (key := _line_key(line)) == clue.key:
        return _SAME_WORDS
    from difflib import SequenceMatcher  # imported when used: listing the tools imports this module

    words = SequenceMatcher(None, clue.key, key, autojunk=False)
    if words.real_quick_ratio() < _SIMILAR or words.quick_ratio() < _SIMILAR:
        return 0.0
    ratio = words.ratio()
    return ratio * 0.8 if ratio >= _SIMILAR else 0.0
