"""Fit the files into a token budget: the most useful in full, the next as outlines, the rest by name."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from marid.assembly.assembler import Assembler, group_by_size
from marid.assembly.formats.format_table import make_renderer, pack
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level
from marid.core.errors import Exhausted
from marid.syntax.languages import language_of
from marid.syntax.outline import identifiers
from marid.text.tokens import make_counter
from marid.workspace.walk import Folder

# Weights. Nearness to the named files decides; the others order files that are equally near.
_NEAR, _RECENT, _MENTIONED, _DEPTH = 8.0, 3.0, 1.0, 0.3
_OLDEST_RECENCY = 300
# An outline is about a tenth of its file; it is not parsed if half of that and a header would not fit.
_MIN_OUTLINE_DIVISOR = 20
_HEADER_TOKENS = 30
# How many files are outlined at a time.
_OUTLINE_BATCH = 64


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


class Candidate(NamedTuple):
    """One file with its costs in tokens, in full and by name. `pinned_level` is the user's choice."""

    path: str
    full_cost: int
    name_cost: int
    score: float
    pinned_level: Level | None = None


def choose_levels(
    candidates: Sequence[Candidate], budget: int, outline_cost: Callable[[str], int | None]
) -> dict[str, Level]:
    """The level of each file; `outline_cost` may be None. Raises: Exhausted if not even the names fit."""
    levels = {one.path: one.pinned_level or Level.NAME for one in candidates}
    spent = sum(_cost(one, levels[one.path], outline_cost) for one in candidates)
    if spent > budget:
        raise Exhausted(
            f"the budget of {budget:,} tokens is too small: {len(candidates):,} files need {spent:,} even by name; "
            "raise --budget, or exclude files with --rule '!PATTERN'"
        )
    free = sort_by_score(one for one in candidates if one.pinned_level is None)
    if spent + sum(one.full_cost - one.name_cost for one in free) <= budget:
        return levels | {one.path: Level.FULL for one in free}
    for one in free:
        left = budget - spent
        # At most half of what is left, so that one large file does not displace all others.
        if one.full_cost - one.name_cost <= left // 2:
            levels[one.path] = Level.FULL
            spent += one.full_cost - one.name_cost
        elif _HEADER_TOKENS + one.full_cost // _MIN_OUTLINE_DIVISOR <= left:
            cost = outline_cost(one.path)
            if cost is not None and cost < one.full_cost and cost - one.name_cost <= left:
                levels[one.path] = Level.OUTLINE
                spent += cost - one.name_cost
    return _promote_to_full(free, levels, budget - spent, outline_cost)


def _promote_to_full(
    free: Sequence[Candidate], levels: dict[str, Level], left: int, outline_cost: Callable[[str], int | None]
) -> dict[str, Level]:
    """Spend the rest on the most useful files that are not yet in full."""
    for one in free:
        extra = one.full_cost - _cost(one, levels[one.path], outline_cost)
        if levels[one.path] is not Level.FULL and extra <= left:
            levels[one.path] = Level.FULL
            left -= extra
    return levels


def sort_by_score(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The most useful first."""
    return sorted(candidates, key=lambda one: (-one.score, one.path))


def demote_least_useful(candidates: Sequence[Candidate], levels: dict[str, Level]) -> dict[str, Level]:
    """Show the least useful of the files by name. Raises: Exhausted if all are."""
    shown = [one for one in candidates if one.pinned_level is None and levels[one.path] is not Level.NAME]
    if not shown:
        raise Exhausted("the files do not fit into the budget even by name: raise --budget, or exclude files")
    least = min(shown, key=lambda one: (one.score, one.path))
    return levels | {least.path: Level.NAME}


def _cost(one: Candidate, level: Level, outline_cost: Callable[[str], int | None]) -> int:
    if level is Level.NAME:
        return one.name_cost
    cost = outline_cost(one.path) if level is Level.OUTLINE else None
    return one.full_cost if cost is None else cost


class _MeasuredFile(NamedTuple):
    """A file after the first pass: its item by name, its costs, and the names it mentions."""

    by_name: ContextItem
    full_cost: int
    name_cost: int
    mentions: frozenset[str]


class BudgetFitter:
    """Chooses the level of every file of an assembler's selection."""

    def __init__(self, assembler: Assembler, budget: int) -> None:
        self._assembler = assembler
        self._budget = budget
        self._form = assembler.request.render.form
        # Without the cache: names and whole outputs are not counted again.
        self._counter = make_counter(assembler.request.encoding)
        self._outlines: dict[str, tuple[ContextItem, int] | None] = {}
        self._order: list[str] = []

    def items(self, sections: list[Section]) -> list[ContextItem]:
        """The files at levels that fit beside `sections`. Raises: Exhausted if not even the names fit."""
        seen = self._first_pass()
        candidates = self._candidates(seen)
        beside = self._cost_of(sections, [])
        if beside > self._budget:
            raise Exhausted(f"the budget of {self._budget:,} tokens is too small for the tree, log and diff")
        self._order = [one.path for one in sort_by_score(candidates)]
        levels = choose_levels(candidates, self._budget - beside, self._outline_cost)
        while True:
            items = list(self._assembler.count_tokens(self._items_at_levels(seen, levels)))
            if self._cost_of(sections, items) <= self._budget:
                return items
            levels = demote_least_useful(candidates, levels)

    def _first_pass(self) -> dict[str, _MeasuredFile]:
        assembler = self._assembler
        stems = {mention_name(path) for path in assembler.selection.paths()}
        seen: dict[str, _MeasuredFile] = {}
        pairs = ((content, assembler.item(content)) for content in assembler.contents())
        for group in group_by_size(pairs, lambda pair: len(pair[1].body)):
            form = make_renderer(self._form)
            costs = assembler.counter.count_many([b"".join(form.item(item, first=False)) for _, item in group])
            for (content, item), cost in zip(group, costs, strict=True):
                by_name = item._replace(body=b"", level=Level.NAME, masked=0, spans=())
                language = language_of(item.path)
                words = identifiers(content.data, language) if language else frozenset[str]()
                mentions = words & stems - {mention_name(item.path)}
                seen[item.path] = _MeasuredFile(by_name, cost, self._counter.count(form.name(by_name)), mentions)
        return seen

    def _candidates(self, seen: dict[str, _MeasuredFile]) -> list[Candidate]:
        assembler, selection = self._assembler, self._assembler.selection
        mentions = Counter(name for one in seen.values() for name in one.mentions)
        ranking = Ranking(selection.named_paths, assembler.ports.git().recency(selection.top), mentions)
        return [
            Candidate(path, one.full_cost, one.name_cost, ranking.score(path), assembler.pinned_level(path))
            for path, one in seen.items()
        ]

    def _outline_cost(self, path: str) -> int | None:
        if path not in self._outlines:
            self._outline_batch(path)
        found = self._outlines[path]
        return None if found is None else found[1]

    def _outline_batch(self, path: str) -> None:
        """Outline `path` and the next files in the order of scores."""
        assembler = self._assembler
        at = self._order.index(path)
        paths = [one for one in self._order[at : at + _OUTLINE_BATCH] if one not in self._outlines]
        contents = [content for one in paths for content in assembler.read([_folder_of(one)])]
        items = assembler.item_builder.build_outlines(contents)
        form = make_renderer(self._form)
        costs = assembler.counter.count_many([b"".join(form.item(item, first=False)) for item in items.values()])
        found = {item.path: (item, cost) for item, cost in zip(items.values(), costs, strict=True)}
        self._outlines |= {one: found.get(one) for one in paths}

    def _items_at_levels(self, seen: dict[str, _MeasuredFile], levels: dict[str, Level]) -> Iterator[ContextItem]:
        assembler = self._assembler
        for path, one in seen.items():
            level = levels[path]
            outline = self._outlines.get(path)
            if level is Level.NAME:
                yield one.by_name
            elif level is Level.OUTLINE and outline is not None:
                yield outline[0]
            else:
                yield from (assembler.item(content) for content in assembler.read([_folder_of(path)]))

    def _cost_of(self, sections: list[Section], items: list[ContextItem]) -> int:
        batches = pack(sections, items, make_renderer(self._form))
        return self._counter.count(b"".join(piece for batch in batches for piece in batch.buffers))


def _folder_of(path: str) -> Folder:
    folder, _, name = path.rpartition("/")
    return Folder(folder, [name])
