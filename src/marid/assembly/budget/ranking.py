"""Rank files by usefulness, for when not all of them fit."""

import math
from collections.abc import Collection, Iterable, Mapping

# Weights. Nearness to the named files decides; the others order files that are equally near.
_NEAR, _RECENT, _MENTIONED, _DEPTH = 8.0, 3.0, 1.0, 0.3
_OLDEST_RECENCY = 300


class Ranking:
    """Scores paths by nearness to the named files, recency in git and mentions by other files."""

    def __init__(self, named: Collection[str], recency: Mapping[str, int], mentions: Mapping[str, int]) -> None:
        self._named = [path.split("/") for path in named]
        self._recency = recency
        self._mentions = mentions

    def score(self, path: str) -> float:
        """Higher is more useful."""
        parts = path.split("/")
        near = max((_nearness(parts, other) for other in self._named), default=0.0)
        recent = 1 - min(self._recency.get(path, _OLDEST_RECENCY), _OLDEST_RECENCY) / _OLDEST_RECENCY
        mentioned = math.log1p(self._mentions.get(mention_name(path), 0))
        return _NEAR * near + _RECENT * recent + _MENTIONED * mentioned - _DEPTH * len(parts)


def _nearness(parts: list[str], other: list[str]) -> float:
    """1 for the same file, less for each folder between them."""
    if parts == other:
        return 1.0
    shared = 0
    while shared < min(len(parts), len(other)) - 1 and parts[shared] == other[shared]:
        shared += 1
    return 0.9 / (len(parts) + len(other) - 2 * shared)


def mention_name(path: str) -> str:
    """The name by which other files mention this one: `store` for `app/store.py`."""
    *folders, name = path.split("/")
    plain = name.partition(".")[0]
    return folders[-1] if plain in ("__init__", "index", "mod", "main") and folders else plain


def count_mentions(stems: Collection[str], mentioned: Iterable[Iterable[str]]) -> dict[str, int]:
    """The number of files that mention each of `stems`."""
    counts = dict.fromkeys(stems, 0)
    for words in mentioned:
        for word in words:
            if word in counts:
                counts[word] += 1
    return counts
