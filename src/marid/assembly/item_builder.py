"""How much of a file is shown: all, its outline, its name, or chosen symbols of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from marid.assembly.items import ContextItem
from marid.core.context import Level, LevelRule
from marid.syntax.languages import language_of
from marid.text.lines import number_lines
from marid.text.secrets.masker import Masker
from marid.workspace.read import Content
from marid.workspace.rules.rule_patterns import RulePatterns

if TYPE_CHECKING:
    # Importing a module costs a quarter of a millisecond at every start; only the type checker wants these here.
    from marid.assembly.symbol_excerpts import AnchoredSymbol
    from marid.ports.outlines import Outlines


class ItemBuilder:
    """Makes items of contents: level or symbols first, then masking, so that nothing unmasked gets further."""

    def __init__(self, masker: Masker | None, outlines: "Callable[[], Outlines]", *, line_numbers: bool) -> None:
        self._masker = masker
        self._outlines = outlines
        self._line_numbers = line_numbers

    def build(self, content: Content, level: Level = Level.FULL) -> ContextItem:
        """`content` at `level`; an outline that says no more than the file, or of an unknown language, is not sent."""
        if level is Level.OUTLINE:
            language = language_of(content.path)
            text = self._outlines().outline(content.data, language) if language else None
            if text is not None:
                return self._build_at_level(content, text.encode(), Level.OUTLINE)
            level = Level.FULL if language else Level.NAME
        if level is Level.NAME:
            return self._build_at_level(content, b"", Level.NAME)
        return self._build_at_level(content, content.data, Level.FULL)

    def warm(self) -> None:
        """Get ready for many files."""
        if self._masker is not None:
            self._masker.warm()

    def build_outlines(self, contents: Sequence[Content]) -> dict[str, ContextItem]:
        """The outlines of those that have one, by path; they are parsed together, which is several times faster."""
        known = [(content, language) for content in contents if (language := language_of(content.path))]
        texts = self._outlines().outlines([(content.data, language) for content, language in known])
        return {
            content.path: self._build_at_level(content, text.encode(), Level.OUTLINE)
            for (content, _), text in zip(known, texts, strict=True)
            if text is not None
        }

    def build_full(self, content: Content) -> ContextItem:
        """As `item` in full, without a step too many: this is the hot path of every run."""
        if self._masker is None or self._line_numbers:
            return self.build(content)
        path, data, size, modified, encoding = content
        body, masked = self._masker.mask(data, path)
        return ContextItem(path, body, size, modified, encoding, Level.FULL, masked)

    def build_symbols(self, content: Content, symbols: "Sequence[AnchoredSymbol]") -> ContextItem:
        """Only the chosen symbols of `content`; the item has them with fresh anchors.

        Raises: NotFound for a symbol that is found neither by name nor by anchor.
        """
        # Imported when used: it brings the grammars' tables.
        from marid.assembly.symbol_excerpts import excerpt_symbols

        legible = _realign_lines(content.data, self.mask(content.data, content.path)[0])
        shaped = excerpt_symbols(content.path, content.data, symbols, legible)
        body, masked = self.mask(shaped.body, content.path)
        if self._line_numbers:
            lines = _realign_lines(shaped.body, body).split(b"\n")
            width = len(str(shaped.numbers[-1]))
            numbers = (b"%*d: " % (width, number) if number else b"" for number in shaped.numbers)
            body = b"".join(b"%b%b\n" % pair for pair in zip(numbers, lines, strict=False))
        return _make_item(content, body, masked)._replace(spans=shaped.spans, symbols=shaped.symbols)

    def _build_at_level(self, content: Content, given: bytes, level: Level) -> ContextItem:
        body, masked = self.mask(given, content.path)
        if self._line_numbers and level is Level.FULL:
            body = number_lines(_realign_lines(given, body))
        return (
            _make_item(content, body, masked)
            if level is Level.FULL
            else _make_item(content, body, masked)._replace(level=level)
        )

    def mask(self, body: bytes, path: str) -> tuple[bytes, int]:
        """`body` without its secrets, and how many there were."""
        return (body, 0) if self._masker is None else self._masker.mask(body, path)


def _make_item(content: Content, body: bytes, masked: int) -> ContextItem:
    return ContextItem(content.path, body, content.size, content.modified, content.encoding, Level.FULL, masked)


def _realign_lines(before: bytes, after: bytes) -> bytes:
    """What masking made of `before`, line by line: empty lines stand where a mask took several."""
    lost = before.count(b"\n") - after.count(b"\n")
    if not lost:
        return after
    old, new = before.split(b"\n"), after.split(b"\n")
    tail = 1
    while tail < len(new) and old[-tail] == new[-tail]:
        tail += 1
    at = len(new) - tail + 1
    return b"\n".join([*new[:at], *[b""] * lost, *new[at:]])


class LevelMatcher(NamedTuple):
    """The level that the user's `--level` rules give a path; the last matching rule wins."""

    patterns: RulePatterns
    levels: tuple[Level, ...]

    def level_of(self, path: str) -> Level | None:
        """The level, or None when no rule matches."""
        found = self.patterns.last_match(path)
        return None if found is None else self.levels[found]


def make_level_matcher(rules: Sequence[LevelRule]) -> LevelMatcher | None:
    """The choice that `rules` mean; None when there are none."""
    if not rules:
        return None
    return LevelMatcher(RulePatterns([rule.pattern for rule in rules]), tuple(rule.level for rule in rules))
