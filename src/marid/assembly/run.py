"""One request carried out: a stream of buffers, and afterwards a report."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from marid.assembly.assembler import Assembler
from marid.assembly.forms import renderer
from marid.assembly.items import Item, Section
from marid.assembly.limit import check_size
from marid.assembly.listing import listing
from marid.assembly.means import Means
from marid.assembly.pack import Buffers, pack
from marid.core.context import ContextRequest, Form, Report, View
from marid.core.errors import NotFound, Refused, Unavailable
from marid.core.events import Emit
from marid.text.visible import shown_path

if TYPE_CHECKING:
    from marid.assembly.lock import Lock
    from marid.assembly.locking import Record
    from marid.assembly.memory import Memory

_DIFFERENCES_SHOWN = 10


class Run:
    """Iterate it once; then `report()` tells what came of it and `lock()` what was packed."""

    def __init__(self, request: ContextRequest, means: Means, emit: Emit, memory: "Memory | None" = None) -> None:
        self.request = request
        self.work = Assembler(request, means, emit, memory)
        self._record: Record | None = None

    def __iter__(self) -> Iterator[Buffers]:
        """The output.

        Raises: Exhausted when the size limit or the budget is exceeded, Refused when a frozen pack would differ;
        both before anything is yielded.
        """
        shown = self.request.shown
        # The walk comes before anybody opens a file to write to: it must not find that one.
        selection = self.work.selection
        if View.CONTENT not in shown.views:
            return self._about()
        if self.request.output and shown.budget is None:
            # Nothing is seen before the whole is there: no need to look at every file twice.
            self.work.max_bytes = self.request.max_bytes
        else:
            check_size(selection, self.request.max_bytes)
        self._choose_symbols()
        if self.request.frozen:
            self._check_frozen()
        sections = self.work.sections()
        crew = self.work.means.crew
        if crew is not None and not sections and shown.form is Form.TEXT and self.work.plain:
            # Imported when used: few projects are that large.
            from marid.assembly.split import FEWEST_FILES, split

            if selection.size() >= FEWEST_FILES:
                return split(self.work, crew())
        return pack(sections, self._items(sections), renderer(shown.form), self.work.emit)

    def report(self) -> Report:
        """What came of it."""
        return self.work.report()

    def lock(self) -> "Lock":
        """What was packed; only after a run that was asked for a lock."""
        return self._recorder().lock()

    def _items(self, sections: list[Section]) -> Iterator[Item]:
        shown, work = self.request.shown, self.work
        if shown.budget is not None:
            # Imported when used: ranking brings the grammars' tables with it.
            from marid.assembly.fitting import Fitting

            items: Iterable[Item] = Fitting(work, shown.budget).items(sections)
        elif shown.tokens or self.request.lock:
            items = work.counted(work.items())
        else:
            items = work.items()
        if self.request.lock:
            self._recorder().note(sections)
            items = self._recorder().watch(items, work.selection, work.symbols)
        return work.tallied(items)

    def _recorder(self) -> "Record":
        if self._record is None:
            from marid.assembly.locking import Record

            self._record = Record(self.request, self.work.counter.name)
        return self._record

    def _choose_symbols(self) -> None:
        """The user's choices; a lock file that exists adds its anchors, and its choices for files not named now."""
        shown = self.request.shown
        path = os.path.join(self.request.cwd, self.request.lock) if self.request.lock else ""
        if not shown.symbols and not (path and os.path.exists(path)):
            return
        from marid.assembly.lock import load
        from marid.assembly.symbols import Chosen

        old = load(path).symbols() if path and os.path.exists(path) else {}
        chosen: dict[str, tuple[Chosen, ...]] = {}
        for place, name, choice in shown.symbols:
            file = self._selected(place)
            anchor = next((one.anchor for one in old.get(file, ()) if one.name == name), None)
            chosen[file] = (*chosen.get(file, ()), Chosen(name, choice, anchor))
        self.work.symbols |= old | chosen

    def _selected(self, place: str) -> str:
        """The selected file that the user means: named from the top of the pack, or from where he stands."""
        selection = self.work.selection
        paths = frozenset(selection.paths())
        for path in (place, os.path.relpath(os.path.realpath(os.path.join(self.request.cwd, place)), selection.top)):
            if path in paths:
                return path
        raise NotFound(f"'{shown_path(place)}' of --symbol is not among the selected files")

    def _check_frozen(self) -> None:
        from marid.assembly.lock import differences, load

        if not self.work.counter.exact:
            raise Unavailable("--frozen needs exact token counts, and the tokenizer is not installed")
        old = load(os.path.join(self.request.cwd, self.request.lock))
        trial = Run(self.request, self.work.means, lambda _what: None)  # the run itself will tell what it meets
        trial._choose_symbols()
        for _ in trial._items(trial.work.sections()):
            pass
        found = list(differences(old, trial.lock()))
        if found:
            more = [f"and {len(found) - _DIFFERENCES_SHOWN} more"] if len(found) > _DIFFERENCES_SHOWN else []
            lines = "\n".join(f"  {line}" for line in [*found[:_DIFFERENCES_SHOWN], *more])
            raise Refused(f"the pack would differ from '{self.request.lock}':\n{lines}")

    def _about(self) -> Iterator[Buffers]:
        shown = self.request.shown
        if View.LIST in shown.views:
            self.work.files = self.work.selection.size()
            yield from listing(self.work.selection.folders, null=shown.null, form=shown.form)
            return
        # Imported when used: the files themselves are asked for far more often.
        from marid.assembly.views import Row, statistics, statistics_json, statistics_text, tree

        rows = [Row(item.path, item.size, item.tokens) for item in self.work.tallied(self._measured())]
        mark = "" if self.work.tokens is None or self.work.counter.exact else "≈"
        if View.TREE in shown.views:
            yield [f"{line}\n".encode() for line in tree(rows, self.work.selection.top, mark=mark)]
        if View.STATS in shown.views:
            found = statistics(rows)
            if shown.form is Form.JSON:
                yield [statistics_json(found, encoding=self.work.counter.name, exact=self.work.counter.exact)]
                return
            lines = statistics_text(found, encoding=self.work.counter.name, mark=mark)
            yield [b"\n" if View.TREE in shown.views else b"", *(f"{line}\n".encode() for line in lines)]

    def _measured(self) -> Iterator[Item]:
        shown = self.request.shown
        items = (self.work.shaper.item(content) for content in self.work.contents())
        return self.work.counted(items) if View.STATS in shown.views or shown.tokens else items
