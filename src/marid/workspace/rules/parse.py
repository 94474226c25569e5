"""Parse the lines of `.contextfiles` and `.gitignore` into rules."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from marid.workspace.rules.name_glob import ANY_NAME, NameGlob, parse_glob, split_pattern

# Ranks of sources, strongest first. Within NEAR and IGNORE the source nearest to the file is the strongest.
INLINE, NEAR, CONFIG, IGNORE, DEFAULT, NO_RULE = range(6)

# Larger files and longer lines are ignored: no path is that long.
MAX_RULE_BYTES = 1 << 20
_MAX_LINE = 1 << 13
_BLANKS = "\r\n\t\f\v "

# Two stars before a slash, an escaped slash or the end; and the same after part of a name.
_STARS = r"\*\*+(/|\\/|\Z)(.*)"
_PARTIAL_STARS = r"([^\\*?\[]*[^\\*?\[/])" + _STARS


class PathRule(NamedTuple):
    """One pattern. `parts` are its components; None is `**`, any number of folders."""

    parts: tuple[NameGlob | None, ...]
    include: bool
    folders_only: bool
    text: str
    line: int

    @property
    def is_plain(self) -> bool:
        """Whether the pattern has no wildcard."""
        return all(part is not None and not part.is_wild for part in self.parts[self.is_floating :])

    @property
    def is_floating(self) -> bool:
        """Whether it matches names at any depth: no slash, or `**/name`."""
        return len(self.parts) == 2 and self.parts[0] is None and self.parts[1] is not None


def parse_contextfile(text: str) -> tuple[PathRule, ...]:
    """The rules of a `.contextfiles`: `!` excludes, anything else includes."""
    return parse_inline(text.removeprefix("\ufeff").split("\n"))


def parse_inline(lines: Iterable[str]) -> tuple[PathRule, ...]:
    """The same from single lines, as for `--rule`."""
    rules: list[PathRule] = []
    for number, raw in enumerate(lines, 1):
        line = _trim(raw.strip("\r\n").lstrip(), _BLANKS)
        if not line or line.startswith("#") or len(line) > _MAX_LINE:
            continue
        exclude = line.startswith("!")
        pattern = line[1:].lstrip() if exclude else line
        pattern = pattern[1:] if pattern.startswith("./") else pattern
        rules += _make_rules(normalize_nfc(pattern), PathRule((), not exclude, pattern.endswith("/"), line, number))
    return tuple(rules)


def parse_gitignore(text: str) -> tuple[PathRule, ...]:
    """The rules of a `.gitignore`: `!` includes again. Its regexes match bytes."""
    rules: list[PathRule] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not raw or raw.startswith("#") or len(raw) > _MAX_LINE:
            continue
        line = _trim(raw.removesuffix("\r").partition("\0")[0], " ")
        include = line.startswith("!")
        rule = PathRule((), include, line.endswith("/"), line, number)
        rules += map(_restore_names, _make_rules(bytes_as_text(line[include:]), rule))
    return tuple(rules)


def decode_rules(data: bytes) -> str:
    """The text of a rule file; bytes that are not UTF-8 match the same bytes in names."""
    return data.decode("utf-8", "surrogateescape")


def bytes_as_text(text: str) -> str:
    """`text` with one character per byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def _restore_names(rule: PathRule) -> PathRule:
    """The rule with names and suffixes as text again; regexes still match bytes."""
    if rule.text.isascii():
        return rule
    parts = (p and p._replace(name=_text_from_bytes(p.name), suffix=_text_from_bytes(p.suffix)) for p in rule.parts)
    return rule._replace(parts=tuple(parts))


def _text_from_bytes(text: str | None) -> str | None:
    return text and decode_rules(text.encode("latin-1"))


def normalize_nfc(text: str) -> str:
    """`text` with composed letters: patterns and names are composed before they are compared."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _trim(line: str, blanks: str) -> str:
    """`line` without trailing blanks, except one after a backslash."""
    bare = line.rstrip(blanks)
    slashes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + slashes % 2]


def _make_rules(pattern: str, blank: PathRule) -> Iterator[PathRule]:
    """`blank` with the parts of the pattern: usually one rule, several for odd patterns, none if nothing can match."""
    body = pattern[: len(pattern) - blank.folders_only]
    if "/" not in body:
        if (glob := parse_glob(body)) is not None:
            yield blank._replace(parts=(None, glob))
        return
    for way in _expansions(body.removeprefix("/")):
        if parts := _parse_components(split_pattern(way)):
            yield blank._replace(parts=parts)


def _expansions(body: str) -> Iterator[str]:
    """The patterns that `body` stands for.

    git compares the text before the first wildcard separately. If `**` follows, git then treats it as a whole component
    although it is not.
    """
    found = re.fullmatch(_PARTIAL_STARS, body, re.DOTALL) if "**" in body else None
    if found is None:
        yield body
        return
    start, end, rest = found.groups()
    while end == "/" and (more := re.fullmatch(_STARS, rest, re.DOTALL)):
        end, rest = more.groups()
    if end == "/":
        yield start + rest
    yield f"{start}*/**/{rest}" if end else f"{start}*/**"
    if not end:
        yield f"{start}*"


def _parse_components(parts: list[tuple[str, bool]]) -> tuple[NameGlob | None, ...]:
    """The globs; empty if one of them can never match."""
    globs: list[NameGlob | None] = []
    for text, escaped in parts:
        if len(text) > 1 and not text.strip("*"):
            if escaped:  # `**\/` is at least one folder
                globs.append(ANY_NAME)
            if not globs or globs[-1] is not None:
                globs.append(None)
            continue
        glob = parse_glob(text)
        if glob is None:
            return ()
        globs.append(glob)
    return tuple(globs)
