"""Run one request: a stream of buffers, and then a report."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from marid.assembly.assembler import Assembler
from marid.assembly.context_ports import ContextPorts
from marid.assembly.formats.format_table import make_renderer
from marid.assembly.items import Batch, Buffers, ContextItem, Section, Tally, tally_item
from marid.assembly.pack import pack
from marid.assembly.size_limit import check_size
from marid.assembly.views.path_list import render_paths
from marid.core.context import ContextReport, ContextRequest, ContextView, OutputFormat
from marid.core.errors import Refused, Unavailable
from marid.core.events import ContextEvent, Emit, FileProblem, PackProgress

if TYPE_CHECKING:
    from marid.assembly.content_cache import ContentCache
    from marid.assembly.lock.lock_file import Lock
    from marid.assembly.lock.recorder import LockRecorder

_MAX_DIFFERENCES_SHOWN = 10


class ContextRun:
    """Iterate it once; then `report()` has the counts and `lock()` the lock to write.

    Every stage returns its output with a tally; the run adds them up.
    """

    def __init__(
        self, request: ContextRequest, ports: ContextPorts, emit: Emit, cache: "ContentCache | None" = None
    ) -> None:
        self.request = request
        self._emit = emit
        self._work = Assembler(request, ports, self._count_problem, cache)
        self._tally = Tally()
        self._recorder: LockRecorder | None = None

    def __iter__(self) -> Iterator[Buffers]:
        """The output.

        Raises: Exhausted when the size limit or the budget is exceeded, Refused when a frozen pack would differ;
        both before the first buffers.
        """
        request, work = self.request, self._work
        # Walk before the caller opens a file to write to, so that the walk does not find that file.
        selection = work.selection
        if ContextView.CONTENT not in request.render.views:
            return self._add_up(_render_views(work))
        # An output file appears only when it is complete, so its size can be checked on the way, which saves a pass.
        check_late = bool(request.output) and request.render.budget is None
        if not check_late:
            check_size(selection, request.max_bytes)
        if request.frozen:
            _check_frozen(request, work)
        sections = work.sections()
        items = _items(work, sections)
        if request.lock and not request.frozen:
            self._recorder = _make_recorder(work, sections)
            items = self._recorder.record(items, selection)
        return self._with_progress(self._add_up(self._pack(sections, items), check_late=check_late))

    def report(self) -> ContextReport:
        """The counts of what was written."""
        tally, skipped = self._tally, self._work.selection.walker.skip_counts
        return ContextReport(
            files=tally.files,
            bytes=tally.bytes,
            masked=tally.masked,
            links=skipped.links,
            special=skipped.special,
            binaries=tally.binaries,
            problems=tally.problems,
            tokens=tally.tokens,
            exact=tally.tokens is None or self._work.counter.exact,
        )

    def lock(self) -> "Lock | None":
        """The lock to write; None without one."""
        return self._recorder.to_lock() if self._recorder else None

    def _count_problem(self, what: ContextEvent) -> None:
        if isinstance(what, FileProblem):
            self._tally = self._tally.plus(Tally(problems=1))
        self._emit(what)

    def _add_up(self, batches: Iterable[Batch], *, check_late: bool = False) -> Iterator[Buffers]:
        for buffers, tally in batches:
            self._tally = self._tally.plus(tally)
            if check_late and self._tally.size > self.request.max_bytes:
                check_size(self._work.selection, self.request.max_bytes)
            if buffers:
                yield buffers

    def _with_progress(self, output: Iterable[Buffers]) -> Iterator[Buffers]:
        for buffers in output:
            yield buffers
            self._emit(PackProgress(files=self._tally.files, bytes=self._tally.bytes))

    def _pack(self, sections: list[Section], items: Iterable[ContextItem]) -> Iterator[Batch]:
        work, form = self._work, self.request.render.form
        if work.ports.job_pool is not None and not sections and form is OutputFormat.TEXT and work.is_plain:
            # Imported when used: few projects are that large.
            from marid.assembly.parallel import MIN_FILES, pack_in_parallel

            if work.selection.file_count() >= MIN_FILES:
                yield from pack_in_parallel(work, work.ports.job_pool())
                return
        yield from pack(sections, items, make_renderer(form))
        yield Batch([], Tally(size=work.reader.huge_bytes, binaries=work.reader.binaries))


def compute_lock(request: ContextRequest, ports: ContextPorts, emit: Emit) -> "Lock":
    """The lock that a run of the request would write."""
    work = Assembler(request, ports, emit)
    check_size(work.selection, request.max_bytes)
    sections = work.sections()
    recorder = _make_recorder(work, sections)
    for _ in recorder.record(_items(work, sections), work.selection):
        pass
    return recorder.to_lock()


def _make_recorder(work: Assembler, sections: list[Section]) -> "LockRecorder":
    # Imported when used: few runs have a lock.
    from marid.assembly.lock.recorder import LockRecorder

    return LockRecorder(work.request, work.counter.name, sections)


def _check_frozen(request: ContextRequest, work: Assembler) -> None:
    """Raise Refused if the output would differ from its lock file."""
    from marid.assembly.lock.lock_file import diff_locks, load_lock

    if not work.counter.exact:
        raise Unavailable("--frozen needs exact token counts, but the tokenizer is not installed")
    old = load_lock(os.path.join(request.cwd, request.lock))
    found = list(diff_locks(old, compute_lock(request, work.ports, _ignore_event)))
    if found:
        more = [f"and {len(found) - _MAX_DIFFERENCES_SHOWN} more"] if len(found) > _MAX_DIFFERENCES_SHOWN else []
        lines = "\n".join(f"  {line}" for line in [*found[:_MAX_DIFFERENCES_SHOWN], *more])
        raise Refused(f"the output would differ from {request.lock}:\n{lines}")


def _ignore_event(_what: ContextEvent) -> None:
    """The run itself reports problems."""


def _items(work: Assembler, sections: list[Section]) -> Iterable[ContextItem]:
    """The items, with token counts if needed."""
    shown = work.request.render
    if shown.budget is not None:
        # Imported when used: ranking brings the grammars' tables.
        from marid.assembly.budget.fitter import BudgetFitter

        return BudgetFitter(work, shown.budget).items(sections)
    return work.count_tokens(work.items()) if shown.tokens or work.request.lock else work.items()


def _render_views(work: Assembler) -> Iterator[Batch]:
    """The list, the tree or the statistics."""
    shown = work.request.render
    if ContextView.LIST in shown.views:
        for buffers in render_paths(work.selection.folders, null=shown.null, form=shown.form):
            yield Batch(buffers)
        yield Batch([], Tally(files=work.selection.file_count()))
        return
    # Imported when used: the files themselves are asked for far more often.
    from marid.assembly.views.statistics import (
        FileRow,
        compute_statistics,
        render_tree,
        statistics_json,
        statistics_text,
    )

    items: Iterable[ContextItem] = map(work.item_builder.build, work.contents())
    if ContextView.STATS in shown.views or shown.tokens:
        items = work.count_tokens(items)
    rows: list[FileRow] = []
    for item in items:
        rows.append(FileRow(item.path, item.size, item.tokens))
        yield Batch([], tally_item(item))
    yield Batch([], Tally(binaries=work.reader.binaries))
    mark = "≈" if rows and rows[0].tokens is not None and not work.counter.exact else ""
    if ContextView.TREE in shown.views:
        yield Batch([f"{line}\n".encode() for line in render_tree(rows, work.selection.top, mark=mark)])
    if ContextView.STATS in shown.views:
        found, encoding = compute_statistics(rows), work.counter.name
        if shown.form is OutputFormat.JSON:
            yield Batch([statistics_json(found, encoding=encoding, exact=work.counter.exact)])
            return
        lines = statistics_text(found, encoding=encoding, mark=mark)
        yield Batch([b"\n" if ContextView.TREE in shown.views else b"", *(f"{line}\n".encode() for line in lines)])
