"""A net for a regular expression: it runs in linear time, catches every text with a match and few without one.

The net is a coarser expression for hyperscan over bytes. What hyperscan lacks is left out or widened, never narrowed;
one byte or more outside ASCII may stand for any letter, so that it holds for UTF-8 and for one-byte encodings alike.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

from marid.core.errors import Unavailable
from marid.text.regex.line_pattern import REPEATS, WITHOUT_LENGTH, Step, member_is_in, parse_steps

# What hyperscan compiles in milliseconds: repeats up to a number, in each other up to a depth, so many characters.
_MAX_COUNTED = 8
_MAX_DEPTH = 3
_MAX_LENGTH = 10_000
_NO_BYTE = r"\xff"
_NON_ASCII = r"[\x80-\xff]{1,4}"
# The letters that have another case outside ASCII.
_ODD_CASES = frozenset(map(ord, "iksIKS"))
_ASCII = frozenset(range(128))


class _Unsupported(Exception):
    """A step for which nobody has thought of a net."""


class Scanner(Protocol):
    """Hyperscan's database, as far as it is used here."""

    def scan(self, data: bytes, note: Any, flags: int, context: list[int], /) -> None:
        """Calls `note` for a match."""
        ...


class RegexPrefilter(NamedTuple):
    """For texts in ASCII, in which the ends of words are known, and for all others."""

    ascii: Scanner
    other: Scanner

    def may_match(self, data: bytes) -> bool:
        """Whether there may be a match in a text that is not in a wide encoding."""
        found: list[int] = []
        scanner = self.ascii if data.isascii() else self.other
        scanner.scan(data.removeprefix(BOM_UTF8), _append_match, 0, found)
        return bool(found)


def _append_match(number: int, _start: int, _end: int, _flags: int, found: list[int]) -> None:
    found.append(number)


@lru_cache(maxsize=8)
def make_regex_prefilter(source: str) -> RegexPrefilter | None:
    """The net for a pattern, None where there is none: work for a worker, as is all with somebody else's expressions.

    Raises: BadInput for a wrong pattern.
    """
    steps, flags = parse_steps(source)
    try:
        return RegexPrefilter(
            *(_compile_scanner(_HyperscanWriter(ascii=ascii).write_steps(steps, flags)) for ascii in (True, False))
        )
    except (_Unsupported, RecursionError, Unavailable):
        return None


class _HyperscanWriter(NamedTuple):
    """Writes steps of Python's parser as an expression for hyperscan, in texts that are all `ascii` or any."""

    ascii: bool
    depth: int = 0

    def write_steps(self, steps: Iterable[Step], flags: int) -> str:
        return "".join(self._write_step(str(op), what, flags) for op, what in steps)

    def _write_step(self, name: str, what: Any, flags: int) -> str:
        if name == "AT":
            return self._write_anchor(str(what))
        if name in WITHOUT_LENGTH:
            return ""
        if name in REPEATS:
            return self._write_repeat(what, flags)
        if name == "BRANCH":
            return f"(?:{'|'.join(self.write_steps(branch, flags) for branch in what[1])})"
        if name == "SUBPATTERN":
            return f"(?:{self.write_steps(what[3], (flags | what[1]) & ~what[2])})"
        return f"(?:{self.write_steps(what, flags)})" if name == "ATOMIC_GROUP" else self._write_char(name, what, flags)

    def _write_anchor(self, name: str) -> str:
        if name.startswith("AT_BEGINNING"):
            return "^"
        if name.startswith("AT_END"):
            return r"\r?$"
        return r"\b" if name == "AT_BOUNDARY" and self.ascii else ""

    def _write_repeat(self, what: tuple[Any, Any, Any], flags: int) -> str:
        least, most, inner = int(what[0]), int(what[1]), list(what[2])
        if len(inner) == 1 and str(inner[0][0]) in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            upper = str(most) if most <= _MAX_COUNTED else ""
            return f"{self.write_steps(inner, flags)}{{{min(least, _MAX_COUNTED)},{upper}}}"
        if self.depth == _MAX_DEPTH:
            raise _Unsupported
        # Counted groups in counted groups would grow without end.
        many = "*" if not least else "+" if most > 1 else ""
        return f"(?:{self._replace(depth=self.depth + 1).write_steps(inner, flags)}){many}"

    def _write_char(self, name: str, what: Any, flags: int) -> str:
        caseless = bool(flags & re.IGNORECASE)
        match name:
            case "LITERAL":
                members = frozenset({what})
            case "NOT_LITERAL":
                members = _ASCII - {what} | {128}
            case "ANY":
                members = _ASCII | {128} if flags & re.DOTALL else _ASCII - {10} | {128}
            case "IN":
                members = _set_members(what)
            case _:
                raise _Unsupported
        return self._write_class(_both_cases(members) if caseless else members)

    def _write_class(self, members: frozenset[int]) -> str:
        inside = _ranges(sorted(members & _ASCII))
        if self.ascii or members <= _ASCII:
            return f"[{inside or _NO_BYTE}]"
        return f"(?:[{inside}]|{_NON_ASCII})" if inside else f"(?:{_NON_ASCII})"


def _ranges(chars: list[int]) -> str:
    """The characters as a class has them inside, those that follow each other as a range."""
    starts = [char for char in chars if char - 1 not in chars]
    ends = [char for char in chars if char + 1 not in chars]
    return "".join(f"\\x{first:02x}-\\x{last:02x}" for first, last in zip(starts, ends, strict=True))


def _set_members(items: list[Step]) -> frozenset[int]:
    """The characters in ASCII that may match, and 128 for others."""
    negated = str(items[0][0]) == "NEGATE"
    found = {char for char in _ASCII if any(member_is_in(str(op), what, char) for op, what in items[negated:])}
    if negated:
        return _ASCII - found | {128}
    foreign = any(str(op) == "CATEGORY" or (what[1] if str(op) == "RANGE" else what) > 127 for op, what in items)
    return frozenset(found | ({128} if foreign else set()))


def _both_cases(members: frozenset[int]) -> frozenset[int]:
    cased = {ord(other) for char in members & _ASCII for other in (chr(char).lower(), chr(char).upper())}
    foreign = any(char > 127 for char in members)
    return frozenset(cased | (_ODD_CASES | {128} if foreign else {128} if members & _ODD_CASES else set()))


def _compile_scanner(expression: str) -> Scanner:
    """The expression compiled. Raises: Unavailable where hyperscan is missing or cannot."""
    if len(expression) > _MAX_LENGTH:
        raise Unavailable("the expression is too long")
    try:
        import hyperscan
    except ImportError as error:
        raise Unavailable("hyperscan is not installed") from error
    try:
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_MULTILINE
        database.compile(expressions=[expression.encode()], ids=[0], flags=flags)
    except hyperscan.error as error:
        raise Unavailable("hyperscan does not take this pattern") from error
    return cast(Scanner, database)
