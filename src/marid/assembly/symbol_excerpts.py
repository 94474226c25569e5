"""Excerpts of a file with chosen symbols, each found by name or, after edits, by its anchor."""

from collections.abc import Sequence
from typing import NamedTuple

from marid.core.context import SymbolDetail
from marid.core.errors import NotFound
from marid.syntax.languages import language_of
from marid.syntax.treesitter.definitions import Definition, definitions, find_definitions
from marid.text.display import quote_path
from marid.text.edit.text_anchors import TextAnchor, anchor_lines, locate_anchor

_MAX_SUGGESTIONS = 8


class AnchoredSymbol(NamedTuple):
    """A chosen symbol, with the anchor from the lock file."""

    name: str
    choice: SymbolDetail
    anchor: TextAnchor | None = None


class SymbolExcerpt(NamedTuple):
    """An excerpt: its bytes, the number of each line (0: none), the unchanged lines, and symbols with new anchors."""

    body: bytes
    numbers: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    symbols: tuple[AnchoredSymbol, ...]


class _SymbolSpan(NamedTuple):
    start: int
    end: int
    signature: str
    choice: SymbolDetail
    name: str


class _Placeholder(NamedTuple):
    """The text in place of the lines up to `end`."""

    text: str
    end: int


def excerpt_symbols(path: str, data: bytes, symbols: Sequence[AnchoredSymbol], masked: bytes) -> SymbolExcerpt:
    """The excerpt of a file. `masked` has the same lines without secrets, since anchors must not store any.

    With only `hide` choices everything else is shown; otherwise only the chosen symbols. Raises: NotFound for a symbol
    that is found neither by name nor by anchor.
    """
    text, safe = data.decode("utf-8", "replace"), masked.decode("utf-8", "replace")
    language = language_of(path)
    known = definitions(data, language) if language else ()
    places: list[_SymbolSpan] = []
    renewed: list[AnchoredSymbol] = []
    for symbol in symbols:
        found = _find_spans(path, safe, known, symbol)
        places += found
        renewed.append(symbol._replace(anchor=anchor_lines(safe, found[0].start, found[0].end)))
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return _render_excerpt(lines, places, tuple(renewed))


def _find_spans(path: str, text: str, known: Sequence[Definition], symbol: AnchoredSymbol) -> list[_SymbolSpan]:
    found = find_definitions(known, symbol.name)
    if found:
        return [_SymbolSpan(one.start, one.end, one.signature, symbol.choice, symbol.name) for one in found]
    span = locate_anchor(text, symbol.anchor) if symbol.anchor is not None else None
    if span is None:
        names = [one.name for one in known][:_MAX_SUGGESTIONS]
        has = f"; it defines {', '.join(names)}" if names else "; it has no known definitions"
        raise NotFound(f"no symbol '{symbol.name}' in {quote_path(path)}{has}")
    # Renamed: the text is still there, so take the definition at its place.
    here = next((one for one in known if one.start == span[0]), None)
    if here is not None:
        return [_SymbolSpan(here.start, here.end, here.signature, symbol.choice, symbol.name)]
    first = text.split("\n")[span[0] - 1].strip()
    return [_SymbolSpan(span[0], span[1], first, symbol.choice, symbol.name)]


def _render_excerpt(lines: list[str], places: list[_SymbolSpan], symbols: tuple[AnchoredSymbol, ...]) -> SymbolExcerpt:
    whole = all(place.choice is SymbolDetail.HIDE for place in places)
    drawn = _visible_lines(lines, places, whole=whole)
    out: list[tuple[int, str]] = []
    spans: list[tuple[int, int]] = []
    last = 0
    for number, note in sorted(drawn.items()):
        if out and number > last + 1:
            out.append((0, "⋮"))
        out.append((number, note.text if note else lines[number - 1]))
        last = note.end if note else number
        if note is None and spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        elif note is None:
            spans.append((number, number))
    body = "".join(f"{line}\n" for _, line in out).encode("utf-8", "replace")
    return SymbolExcerpt(body, tuple(number for number, _ in out), tuple(spans), symbols)


def _visible_lines(lines: list[str], places: list[_SymbolSpan], *, whole: bool) -> dict[int, _Placeholder | None]:
    """The numbers of the lines to show, each with its placeholder, if any."""
    drawn: dict[int, _Placeholder | None] = dict.fromkeys(range(1, len(lines) + 1)) if whole else {}
    # Outer symbols first, so that a choice inside another one wins.
    for place in sorted(places, key=lambda one: one.start - one.end):
        span = range(place.start, min(place.end, len(lines)) + 1)
        if place.choice is SymbolDetail.FULL:
            drawn |= dict.fromkeys(span)
            continue
        for number in span:
            drawn.pop(number, None)
        note = f"⋮ {place.start}-{place.end}"
        shown = f"{place.signature}  {note}" if place.choice is SymbolDetail.SIGNATURE else f"{note} {place.name}"
        drawn[place.start] = _Placeholder(_indent(lines[place.start - 1]) + shown, place.end)
    return drawn


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
