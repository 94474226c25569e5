"""A pack that fits a token budget: two passes, and the result is counted as a whole before it leaves."""

from collections.abc import Iterator
from typing import NamedTuple

from marid.assembly.assembler import Assembler, grouped
from marid.assembly.budget import Candidate, by_use, demoted, fit
from marid.assembly.forms import renderer
from marid.assembly.items import Item, Section
from marid.assembly.pack import pack
from marid.assembly.rank import Ranking, count_mentions, stem
from marid.core.context import Level
from marid.core.errors import Exhausted
from marid.core.events import Happening
from marid.syntax.languages import language_of
from marid.syntax.outline import references
from marid.text.tokens import counter
from marid.workspace.read import Content
from marid.workspace.walk import Folder

# How many files are outlined at a time.
_AHEAD = 64


class _Seen(NamedTuple):
    """A file after the first pass: as it would be listed by name, what it costs, what it mentions."""

    by_name: Item
    full: int
    name: int
    mentions: frozenset[str]


class Fitting:
    """Chooses the level of every file of an assembler's selection."""

    def __init__(self, assembler: Assembler, budget: int) -> None:
        self._assembler = assembler
        self._budget = budget
        self._form = assembler.request.shown.form
        # Not the cache's business: names and whole packs are never counted twice.
        self._counter = counter(assembler.request.encoding)
        self._outlines: dict[str, tuple[Item, int] | None] = {}
        self._order: list[str] = []

    def items(self, sections: list[Section]) -> list[Item]:
        """The files at the levels that fit beside `sections`.

        Raises: Exhausted when not even the names fit.
        """
        seen = self._first_pass()
        candidates = self._candidates(seen)
        beside = self._cost_of(sections, [])
        if beside > self._budget:
            raise Exhausted(f"the budget of {self._budget:,} tokens is used up by what stands before the files")
        self._order = [one.path for one in by_use(candidates)]
        levels = fit(candidates, self._budget - beside, self._outline_cost)
        while True:
            items = list(self._assembler.counted(self._shown(seen, levels)))
            if self._cost_of(sections, items) <= self._budget:
                return items
            levels = demoted(candidates, levels)

    def _first_pass(self) -> dict[str, _Seen]:
        assembler = self._assembler
        stems = {stem(path) for path in assembler.selection.paths()}
        seen: dict[str, _Seen] = {}
        contents = assembler.contents()
        pairs = ((content, assembler.item(content)) for content in contents)
        for group in grouped(pairs, lambda pair: len(pair[1].body)):
            form = renderer(self._form)
            costs = assembler.counter.count_many([b"".join(form.item(item, first=False)) for _, item in group])
            for (content, item), cost in zip(group, costs, strict=True):
                by_name = item._replace(body=b"", level=Level.NAME, masked=0, spans=())
                name = self._counter.count(form.name(by_name))
                seen[item.path] = _Seen(by_name, cost, name, _mentions(content, stems))
        return seen

    def _candidates(self, seen: dict[str, _Seen]) -> list[Candidate]:
        assembler = self._assembler
        selection = assembler.selection
        mentions = count_mentions({stem(path) for path in seen}, (one.mentions for one in seen.values()))
        ranking = Ranking(selection.named, assembler.means.git().recency(selection.top), mentions)
        return [
            Candidate(path, one.full, one.name, ranking.score(path), assembler.pinned(path))
            for path, one in seen.items()
        ]

    def _outline_cost(self, path: str) -> int | None:
        if path not in self._outlines:
            self._outline_from(path)
        found = self._outlines[path]
        return None if found is None else found[1]

    def _outline_from(self, path: str) -> None:
        """Outline `path` and the files that will be asked about next."""
        assembler = self._assembler
        at = self._order.index(path)
        paths = [one for one in self._order[at : at + _AHEAD] if one not in self._outlines]
        contents = [content for one in paths for content in assembler.read([_folder(one)])]
        items = assembler.shaper.outlined(contents)
        form = renderer(self._form)
        costs = assembler.counter.count_many([b"".join(form.item(item, first=False)) for item in items.values()])
        found = {item.path: (item, cost) for item, cost in zip(items.values(), costs, strict=True)}
        self._outlines |= {one: found.get(one) for one in paths}

    def _shown(self, seen: dict[str, _Seen], levels: dict[str, Level]) -> Iterator[Item]:
        assembler = self._assembler
        for path, one in seen.items():
            level = levels[path]
            outline = self._outlines.get(path)
            if level is Level.NAME:
                yield one.by_name
            elif level is Level.OUTLINE and outline is not None:
                yield outline[0]
            else:
                yield from (assembler.item(content) for content in assembler.read([_folder(path)]))

    def _cost_of(self, sections: list[Section], items: list[Item]) -> int:
        whole = b"".join(piece for batch in pack(sections, items, renderer(self._form), _unheard) for piece in batch)
        return self._counter.count(whole)


def _mentions(content: Content, stems: set[str]) -> frozenset[str]:
    language = language_of(content.path)
    return references(content.data, language) & stems - {stem(content.path)} if language else frozenset()


def _folder(path: str) -> Folder:
    folder, _, name = path.rpartition("/")
    return Folder(folder, [name])


def _unheard(_what: Happening) -> None:
    """A trial run is nobody's business."""
