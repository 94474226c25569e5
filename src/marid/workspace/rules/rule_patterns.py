"""Matching single paths against patterns, outside of a walk."""

from collections.abc import Sequence

from marid.workspace.rules.parse import INLINE, parse_inline
from marid.workspace.rules.rule_layers import RuleSource


class RulePatterns:
    """Patterns as in a rule file; one that matches a folder matches everything below it."""

    def __init__(self, patterns: Sequence[str]) -> None:
        rules = [(number, rule) for number, text in enumerate(patterns) for rule in parse_inline([text])]
        self._numbers = [number for number, _ in rules]
        self._source = RuleSource(tuple(rule for _, rule in rules), rank=INLINE, origin="")

    def last_match(self, path: str) -> int | None:
        """The number of the last pattern that matches `path`."""
        best = -1
        layer = self._source.top_layer()
        parts = path.split("/")
        for depth, name in enumerate(parts):
            best = max(best, *layer.find_matches(name, folder=depth + 1 < len(parts)), -1)
            layer = layer.below(name)
        return self._numbers[best] if best >= 0 else None
