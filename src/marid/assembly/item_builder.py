"""Build items: a file in full, as outline, or by name."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from marid.assembly.items import ContextItem
from marid.core.context import Level, LevelRule
from marid.syntax.languages import language_of
from marid.text.decode import number_lines
from marid.text.secrets.masker import Masker
from marid.workspace.read import Content
from marid.workspace.rules.parse import parse_inline
from marid.workspace.rules.rule_stack import PathMatcher

if TYPE_CHECKING:
    # Importing a module takes a quarter of a millisecond at every start.
    from marid.ports.outlines import Outlines


class ItemBuilder:
    """Builds items from contents and masks them, so that nothing unmasked leaves it."""

    def __init__(self, masker: Masker | None, outlines: "Callable[[], Outlines]", *, line_numbers: bool) -> None:
        self._masker = masker
        self._outlines = outlines
        self.line_numbers = line_numbers

    def build(self, content: Content, level: Level = Level.FULL) -> ContextItem:
        """`content` at `level`; in full if it has no shorter outline, by name if its language is unknown."""
        if level is Level.OUTLINE:
            language = language_of(content.path)
            text = self._outlines().outline(content.data, language) if language else None
            if text is not None:
                return self._build_at_level(content, text.encode(), Level.OUTLINE)
            level = Level.FULL if language else Level.NAME
        return self._build_at_level(content, b"" if level is Level.NAME else content.data, level)

    def warm(self) -> None:
        """Prepare for many files."""
        if self._masker is not None:
            self._masker.warm()

    def build_outlines(self, contents: Sequence[Content]) -> dict[str, ContextItem]:
        """The outlines by path, of contents that have one; parsing them together is several times faster."""
        known = [(content, language) for content in contents if (language := language_of(content.path))]
        texts = self._outlines().outlines([(content.data, language) for content, language in known])
        return {
            content.path: self._build_at_level(content, text.encode(), Level.OUTLINE)
            for (content, _), text in zip(known, texts, strict=True)
            if text is not None
        }

    def build_full(self, content: Content) -> ContextItem:
        """As `build` in full; the hot path of every run."""
        if self._masker is None or self.line_numbers:
            return self.build(content)
        path, data, size, modified, encoding = content
        body, masked = self._masker.mask(data, path)
        return ContextItem(path, body, size, modified, encoding, Level.FULL, masked)

    def _build_at_level(self, content: Content, given: bytes, level: Level) -> ContextItem:
        body, masked = self.mask(given, content.path)
        if self.line_numbers and level is Level.FULL:
            body = number_lines(realign_lines(given, body))
        return make_item(content, body, masked, level)

    def mask(self, body: bytes, path: str) -> tuple[bytes, int]:
        """`body` without secrets, and their number."""
        return (body, 0) if self._masker is None else self._masker.mask(body, path)


def make_item(content: Content, body: bytes, masked: int, level: Level = Level.FULL) -> ContextItem:
    """The item of a file with this body."""
    return ContextItem(content.path, body, content.size, content.modified, content.encoding, level, masked)


def realign_lines(before: bytes, after: bytes) -> bytes:
    """`after`, the masked text, with as many lines as `before`: empty ones where a mask replaced several."""
    lost = before.count(b"\n") - after.count(b"\n")
    if not lost:
        return after
    old, new = before.split(b"\n"), after.split(b"\n")
    tail = 1
    while tail < len(new) and old[-tail] == new[-tail]:
        tail += 1
    at = len(new) - tail + 1
    return b"\n".join([*new[:at], *[b""] * lost, *new[at:]])


class LevelMatcher:
    """The levels that `--level` gives. The last matching pattern wins; one that matches a folder is for all below."""

    def __init__(self, rules: Sequence[LevelRule]) -> None:
        parsed = [(rule.level, path_rule) for rule in rules for path_rule in parse_inline([rule.pattern])]
        self._levels = [level for level, _ in parsed]
        self._matcher = PathMatcher(tuple(path_rule for _, path_rule in parsed))

    def level_of(self, path: str) -> Level | None:
        """The level of a path; None if no pattern matches."""
        last = self._matcher.last_match(path)
        return self._levels[last] if last >= 0 else None
