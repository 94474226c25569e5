"""One request carried out: a stream of buffers, and afterwards a report."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from marid.assembly.assembler import Assembler
from marid.assembly.context_ports import ContextPorts
from marid.assembly.formats.format_table import make_renderer
from marid.assembly.items import ContextItem, Section
from marid.assembly.pack import Buffers, pack
from marid.assembly.size_limit import check_size
from marid.assembly.views.path_list import render_paths
from marid.core.context import ContextReport, ContextRequest, ContextView, OutputFormat
from marid.core.errors import NotFound, Refused, Unavailable
from marid.core.events import Emit
from marid.text.display import quote_path

if TYPE_CHECKING:
    from marid.assembly.content_cache import ContentCache
    from marid.assembly.lock.lock_file import Lock
    from marid.assembly.lock.recorder import LockRecorder

_MAX_DIFFERENCES_SHOWN = 10


class ContextRun:
    """Iterate it once; then `report()` tells what came of it and `lock()` what was packed."""

    def __init__(
        self, request: ContextRequest, means: ContextPorts, emit: Emit, memory: "ContentCache | None" = None
    ) -> None:
        self.request = request
        self.assembler = Assembler(request, means, emit, memory)
        self._lock_rows: LockRecorder | None = None

    def __iter__(self) -> Iterator[Buffers]:
        """The output.

        Raises: Exhausted when the size limit or the budget is exceeded, Refused when a frozen pack would differ;
        both before anything is yielded.
        """
        shown = self.request.render
        # The walk comes before anybody opens a file to write to: it must not find that one.
        selection = self.assembler.selection
        if ContextView.CONTENT not in shown.views:
            return self._render_views()
        if self.request.output and shown.budget is None:
            # Nothing is seen before the whole is there: no need to look at every file twice.
            self.assembler.max_bytes = self.request.max_bytes
        else:
            check_size(selection, self.request.max_bytes)
        self._choose_symbols()
        if self.request.frozen:
            self._check_frozen()
        sections = self.assembler.sections()
        crew = self.assembler.ports.crew
        if crew is not None and not sections and shown.form is OutputFormat.TEXT and self.assembler.is_plain:
            # Imported when used: few projects are that large.
            from marid.assembly.parallel import MIN_FILES, pack_in_parallel

            if selection.file_count() >= MIN_FILES:
                return pack_in_parallel(self.assembler, crew())
        return pack(sections, self._items(sections), make_renderer(shown.form), self.assembler.emit)

    def report(self) -> ContextReport:
        """What came of it."""
        return self.assembler.report()

    def lock(self) -> "Lock":
        """What was packed; only after a run that was asked for a lock."""
        return self._lock_recorder().to_lock()

    def _items(self, sections: list[Section]) -> Iterator[ContextItem]:
        shown, work = self.request.render, self.assembler
        if shown.budget is not None:
            # Imported when used: ranking brings the grammars' tables with it.
            from marid.assembly.budget.fitter import BudgetFitter

            items: Iterable[ContextItem] = BudgetFitter(work, shown.budget).items(sections)
        elif shown.tokens or self.request.lock:
            items = work.count_tokens(work.items())
        else:
            items = work.items()
        if self.request.lock:
            self._lock_recorder().record_sections(sections)
            items = self._lock_recorder().record_items(items, work.selection, work.symbols)
        return work.tally_items(items)

    def _lock_recorder(self) -> "LockRecorder":
        if self._lock_rows is None:
            from marid.assembly.lock.recorder import LockRecorder

            self._lock_rows = LockRecorder(self.request, self.assembler.counter.name)
        return self._lock_rows

    def _choose_symbols(self) -> None:
        """The user's choices; a lock file that exists adds its anchors, and its choices for files not named now."""
        shown = self.request.render
        path = os.path.join(self.request.cwd, self.request.lock) if self.request.lock else ""
        if not shown.symbols and not (path and os.path.exists(path)):
            return
        from marid.assembly.lock.lock_file import load_lock
        from marid.assembly.symbol_excerpts import AnchoredSymbol

        old = load_lock(path).symbols() if path and os.path.exists(path) else {}
        chosen: dict[str, tuple[AnchoredSymbol, ...]] = {}
        for place, name, choice in shown.symbols:
            file = self._resolve_symbol_path(place)
            anchor = next((one.anchor for one in old.get(file, ()) if one.name == name), None)
            chosen[file] = (*chosen.get(file, ()), AnchoredSymbol(name, choice, anchor))
        self.assembler.symbols |= old | chosen

    def _resolve_symbol_path(self, place: str) -> str:
        """The selected file that the user means: named from the top of the pack, or from where he stands."""
        selection = self.assembler.selection
        paths = frozenset(selection.paths())
        for path in (place, os.path.relpath(os.path.realpath(os.path.join(self.request.cwd, place)), selection.top)):
            if path in paths:
                return path
        raise NotFound(f"'{quote_path(place)}' of --symbol is not among the selected files")

    def _check_frozen(self) -> None:
        from marid.assembly.lock.lock_file import diff_locks, load_lock

        if not self.assembler.counter.exact:
            raise Unavailable("--frozen needs exact token counts, and the tokenizer is not installed")
        old = load_lock(os.path.join(self.request.cwd, self.request.lock))
        trial = ContextRun(
            self.request, self.assembler.ports, lambda _what: None
        )  # the run itself will tell what it meets
        trial._choose_symbols()
        for _ in trial._items(trial.assembler.sections()):
            pass
        found = list(diff_locks(old, trial.lock()))
        if found:
            more = [f"and {len(found) - _MAX_DIFFERENCES_SHOWN} more"] if len(found) > _MAX_DIFFERENCES_SHOWN else []
            lines = "\n".join(f"  {line}" for line in [*found[:_MAX_DIFFERENCES_SHOWN], *more])
            raise Refused(f"the pack would differ from '{self.request.lock}':\n{lines}")

    def _render_views(self) -> Iterator[Buffers]:
        shown = self.request.render
        if ContextView.LIST in shown.views:
            self.assembler.files = self.assembler.selection.file_count()
            yield from render_paths(self.assembler.selection.folders, null=shown.null, form=shown.form)
            return
        # Imported when used: the files themselves are asked for far more often.
        from marid.assembly.views.statistics import (
            FileRow,
            compute_statistics,
            render_tree,
            statistics_json,
            statistics_text,
        )

        rows = [FileRow(item.path, item.size, item.tokens) for item in self.assembler.tally_items(self._view_items())]
        mark = "" if self.assembler.tokens is None or self.assembler.counter.exact else "≈"
        if ContextView.TREE in shown.views:
            yield [f"{line}\n".encode() for line in render_tree(rows, self.assembler.selection.top, mark=mark)]
        if ContextView.STATS in shown.views:
            found = compute_statistics(rows)
            if shown.form is OutputFormat.JSON:
                yield [statistics_json(found, encoding=self.assembler.counter.name, exact=self.assembler.counter.exact)]
                return
            lines = statistics_text(found, encoding=self.assembler.counter.name, mark=mark)
            yield [b"\n" if ContextView.TREE in shown.views else b"", *(f"{line}\n".encode() for line in lines)]

    def _view_items(self) -> Iterator[ContextItem]:
        shown = self.request.render
        items = (self.assembler.item_builder.build(content) for content in self.assembler.contents())
        return self.assembler.count_tokens(items) if ContextView.STATS in shown.views or shown.tokens else items
