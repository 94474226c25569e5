"""Blank out code that misleads the parser. Bytes keep their positions, so that spans fit the original file."""

import re
from itertools import pairwise
from typing import NamedTuple

# `class SHOP_API Shop`: to a parser that does not know the macro, this is a function that returns a class.
_EXPORT = re.compile(
    rb"\b(?:class|struct|union)\s+([A-Z][A-Z0-9_]{2,}(?:\s*\([^()\n]*\))?)"
    rb"(?=\s+[A-Za-z_]\w*(?:\s+final)?\s*(?::[^;(){}]*)?\{)"
)
# `int f(void) NONNULL(1);`: the parser does not know attributes of this kind.
_ATTRIBUTE = re.compile(rb"(?<=\))\s*\b([A-Z][A-Z0-9_]{2,}\s*(?:\([^()\n]*\))?)(?=\s*;)")
_HEADLESS = re.compile(rb"\s*\{")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif\w*|else|endif)\b(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_BRACE = re.compile(rb"""[{}]|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_BRACE_DEPTH = {b"{": 1, b"}": -1}
_VISIBLE = re.compile(rb"[^\r\n]")


class ConditionalGroup(NamedTuple):
    """`#if` to `#endif`: the start and end of each directive line."""

    directives: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.directives[0][0]

    @property
    def end(self) -> int:
        return self.directives[-1][1]


def without_exports(data: bytes) -> bytes:
    """Blank macros between `class` and a name."""
    return _EXPORT.sub(_blank_match, data)


def without_attributes(data: bytes) -> bytes:
    """Blank macros between parameters and `;`."""
    return _ATTRIBUTE.sub(_blank_match, data)


def _blank_match(match: re.Match[bytes]) -> bytes:
    whole, (start, end) = match[0], match.span(1)
    start, end = start - match.start(), end - match.start()
    return whole[:start] + _VISIBLE.sub(b" ", whole[start:end]) + whole[end:]


def without_split_branches(data: bytes) -> tuple[bytes, tuple[ConditionalGroup, ...]]:
    """Blank all but the first branch of conditionals that contain part of a block, or several headers for one body."""
    made, split = bytearray(data), list[ConditionalGroup]()
    for group in _find_conditionals(data):
        lines = group.directives
        branches = (_BRACE.finditer(made, start, end) for (_, start), (end, _) in pairwise(lines))
        if _HEADLESS.match(made, group.end) or any(
            sum(_BRACE_DEPTH.get(match[0], 0) for match in branch) for branch in branches
        ):
            split.append(group)
            for start, end in (lines[0], (lines[1][0], group.end)):
                made[start:end] = _VISIBLE.sub(b" ", made[start:end])
    return bytes(made) if split else data, tuple(split)


def _find_conditionals(data: bytes) -> list[ConditionalGroup]:
    """The closed conditionals, inner before outer ones."""
    found: list[ConditionalGroup] = []
    begun: list[list[tuple[int, int]]] = []
    for match in _DIRECTIVE.finditer(data):
        if match[1] in (b"if", b"ifdef", b"ifndef"):
            begun.append([match.span()])
        elif begun:
            begun[-1].append(match.span())
            if match[1] == b"endif":
                found.append(ConditionalGroup(tuple(begun.pop())))
    return found
