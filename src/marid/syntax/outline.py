"""Outlines for packs: what a file defines, each with its lines."""

import re
from collections.abc import Iterable, Iterator

from marid.syntax.treesitter.definitions import Definition, visible_definitions
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES
from marid.syntax.treesitter.language_tables import LANGUAGE_TABLES
from marid.text.display import clip

_DOC_LENGTH = 100
_DECORATOR_LENGTH = 60
_IDENTIFIER = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*")
_IDENTIFIER_BY_LANGUAGE = {
    "javascript": re.compile(rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*"),
    "ruby": re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*[?!]?"),
}


def outline(data: bytes, language: str) -> str | None:
    """Nested signatures without the insides of functions.

    None for an unknown language, a file without definitions, or one that is not longer than its outline.
    Raises: Unavailable if the grammar is not installed.
    """
    found = visible_definitions(data, language)
    text = "".join(_outline_lines(found, LANGUAGE_TABLES[language].comment)) if found else ""
    return text if text and len(text.encode()) < len(data) else None


def _outline_lines(found: Iterable[Definition], sign: str) -> Iterator[str]:
    for each in found:
        span = f"{each.start}-{each.end}" if each.end > each.start else f"{each.start}"
        decorators = clip(each.decorators, _DECORATOR_LENGTH) + " " if each.decorators else ""
        doc = f"  {sign} {clip(each.doc, _DOC_LENGTH)}" if each.doc else ""
        yield f"{'  ' * each.depth}{span} {decorators}{each.signature}{doc}\n"


def identifiers(data: bytes, language: str) -> frozenset[str]:
    """Every word that could be an identifier, found without parsing; none above 4 MB."""
    if len(data) > MAX_PARSE_BYTES:
        return frozenset()
    words = _IDENTIFIER_BY_LANGUAGE.get("javascript" if language in ("tsx", "typescript") else language, _IDENTIFIER)
    return frozenset(word.decode("utf-8", "replace") for word in set(words.findall(data)))
