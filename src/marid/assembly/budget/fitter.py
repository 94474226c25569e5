"""Fit the files into a token budget: measure all, choose levels, then count the whole output."""

from collections.abc import Iterator
from typing import NamedTuple

from marid.assembly.assembler import Assembler, group_by_size
from marid.assembly.budget.levels import Candidate, choose_levels, demote_least_useful, sort_by_score
from marid.assembly.budget.ranking import Ranking, count_mentions, mention_name
from marid.assembly.formats.format_table import make_renderer
from marid.assembly.items import ContextItem, Section
from marid.assembly.pack import pack
from marid.core.context import Level
from marid.core.errors import Exhausted
from marid.syntax.languages import language_of
from marid.syntax.outline import identifiers
from marid.text.tokens import make_counter
from marid.workspace.read import Content
from marid.workspace.walk import Folder

# How many files are outlined at a time.
_OUTLINE_BATCH = 64


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
                name = self._counter.count(form.name(by_name))
                seen[item.path] = _MeasuredFile(by_name, cost, name, _mentions(content, stems))
        return seen

    def _candidates(self, seen: dict[str, _MeasuredFile]) -> list[Candidate]:
        assembler = self._assembler
        selection = assembler.selection
        mentions = count_mentions({mention_name(path) for path in seen}, (one.mentions for one in seen.values()))
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


def _mentions(content: Content, stems: set[str]) -> frozenset[str]:
    language = language_of(content.path)
    return identifiers(content.data, language) & stems - {mention_name(content.path)} if language else frozenset()


def _folder_of(path: str) -> Folder:
    folder, _, name = path.rpartition("/")
    return Folder(folder, [name])
