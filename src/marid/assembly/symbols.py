"""Only chosen symbols of a file, each found by name or, after edits, by its anchor."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from marid.assembly.item_builder import ItemBuilder, make_item, realign_lines
from marid.assembly.items import AnchoredSymbol, ContextItem
from marid.assembly.lock import load_lock
from marid.assembly.selection import Selection
from marid.core.context import ContextRequest, SymbolDetail
from marid.core.errors import NotFound
from marid.syntax.languages import language_of
from marid.syntax.treesitter.definitions import Definition, definitions, find_definitions
from marid.text.display import quote_path
from marid.text.edit.text_anchors import anchor_lines, locate_anchor
from marid.workspace.read import Content

_MAX_SUGGESTIONS = 8


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


def resolve_symbols(request: ContextRequest, selection: Selection, lock: str) -> dict[str, tuple[AnchoredSymbol, ...]]:
    """The chosen symbols by path. An existing lock file adds anchors, and choices for other files.

    Raises: NotFound for a file that is not selected.
    """
    old = load_lock(lock).symbols() if lock else {}
    selected = frozenset(selection.paths())
    chosen: dict[str, tuple[AnchoredSymbol, ...]] = {}
    for given, name, choice in request.render.symbols:
        # Relative to the top or to the working directory.
        paths = (given, os.path.relpath(os.path.realpath(os.path.join(request.cwd, given)), selection.top))
        if (path := next((path for path in paths if path in selected), None)) is None:
            raise NotFound(f"--symbol: {quote_path(given)} is not selected")
        anchor = next((one.anchor for one in old.get(path, ()) if one.name == name), None)
        chosen[path] = (*chosen.get(path, ()), AnchoredSymbol(name, choice, anchor))
    return old | chosen


def build_symbols(builder: ItemBuilder, symbols: Sequence[AnchoredSymbol], content: Content) -> ContextItem:
    """An item with only the chosen symbols of `content`, with new anchors. Raises: NotFound for a missing symbol."""
    masked_lines = realign_lines(content.data, builder.mask(content.data, content.path)[0])
    excerpt = excerpt_symbols(content.path, content.data, symbols, masked_lines)
    body, masked = builder.mask(excerpt.body, content.path)
    if builder.line_numbers:
        lines = realign_lines(excerpt.body, body).split(b"\n")
        width = len(str(excerpt.numbers[-1]))
        numbers = (b"%*d: " % (width, number) if number else b"" for number in excerpt.numbers)
        body = b"".join(b"%b%b\n" % pair for pair in zip(numbers, lines, strict=False))
    return make_item(content, body, masked)._replace(spans=excerpt.spans, symbols=excerpt.symbols)


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
    lines = text.removesuffix("\n").split("\n") if text else []
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
