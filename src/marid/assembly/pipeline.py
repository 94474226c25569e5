"""Run one request: a stream of buffers, and then a report."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from marid.assembly.assembler import Assembler
from marid.assembly.context_ports import ContextPorts
from marid.assembly.formats.format_table import make_renderer, pack
from marid.assembly.items import Batch, Buffers, ContextItem, Section, Tally
from marid.assembly.selection import check_size
from marid.core.context import ContextReport, ContextRequest, ContextView, OutputFormat
from marid.core.errors import Refused, Unavailable
from marid.core.events import ContextEvent, Emit, FileProblem, PackProgress

if TYPE_CHECKING:
    from marid.assembly.content_cache import ContentCache
    from marid.assembly.lock import Lock, LockRecorder

# Below this, forking takes longer than packing.
MIN_PARALLEL_FILES = 1000
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
            from marid.assembly.views import render_views  # imported when used: most runs show the files

            return self._add_up(render_views(work))
        # An output file appears only when it is complete, so its size can be checked on the way, which saves a pass.
        check_late = bool(request.output) and request.render.budget is None
        if not check_late:
            check_size(selection, request.max_bytes)
        if request.frozen:
            _check_frozen(request, work)
        sections = _sections(work)
        items = _items(work, sections)
        if request.lock and not request.frozen:
            self._recorder = _make_recorder(work, sections)
            items = self._recorder.record(items, selection)
        return self._add_up(self._pack(sections, items), check_late=check_late, progress=True)

    def report(self) -> ContextReport:
        """The counts of what was written."""
        tally, walker = self._tally, self._work.selection.walker
        return ContextReport(
            files=tally.files,
            bytes=tally.bytes,
            masked=tally.masked,
            links=walker.skipped_links,
            special=walker.skipped_special_files,
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

    def _add_up(
        self, batches: Iterable[Batch], *, check_late: bool = False, progress: bool = False
    ) -> Iterator[Buffers]:
        for buffers, tally in batches:
            self._tally = self._tally.plus(tally)
            if check_late and self._tally.size > self.request.max_bytes:
                check_size(self._work.selection, self.request.max_bytes)
            if buffers:
                yield buffers
                if progress:
                    self._emit(PackProgress(files=self._tally.files, bytes=self._tally.bytes))

    def _pack(self, sections: list[Section], items: Iterable[ContextItem]) -> Iterator[Batch]:
        work, form, pool = self._work, self.request.render.form, self._work.ports.job_pool
        is_plain = not sections and form is OutputFormat.TEXT and work.is_plain
        if pool is not None and is_plain and work.selection.file_count() >= MIN_PARALLEL_FILES:
            from marid.assembly.parallel import pack_in_parallel  # imported when used: few projects are that large

            yield from pack_in_parallel(work, pool())
            return
        yield from pack(sections, items, make_renderer(form))
        yield Batch([], Tally(size=work.reader.huge_bytes, binaries=work.reader.binaries))


def compute_lock(request: ContextRequest, ports: ContextPorts, emit: Emit) -> "Lock":
    """The lock that a run of the request would write."""
    work = Assembler(request, ports, emit)
    check_size(work.selection, request.max_bytes)
    sections = _sections(work)
    recorder = _make_recorder(work, sections)
    for _ in recorder.record(_items(work, sections), work.selection):
        pass
    return recorder.to_lock()


def _make_recorder(work: Assembler, sections: list[Section]) -> "LockRecorder":
    # Imported when used: few runs have a lock.
    from marid.assembly.lock import LockRecorder

    return LockRecorder(work.request, work.counter.name, sections)


def _check_frozen(request: ContextRequest, work: Assembler) -> None:
    """Raise Refused if the output would differ from its lock file."""
    from marid.assembly.lock import diff_locks, load_lock

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


def _sections(work: Assembler) -> list[Section]:
    shown = work.request.render
    if not shown.with_tree and not shown.log and shown.diff is None:
        return []
    from marid.assembly.views import make_sections  # imported when used, as above

    return list(make_sections(work))


def _items(work: Assembler, sections: list[Section]) -> Iterable[ContextItem]:
    """The items, with token counts if needed."""
    shown = work.request.render
    if shown.budget is not None:
        # Imported when used: ranking brings the grammars' tables.
        from marid.assembly.budget import BudgetFitter

        return BudgetFitter(work, shown.budget).items(sections)
    return work.count_tokens(work.items()) if shown.tokens or work.request.lock else work.items()
