"""From a request's targets to its items: select, read, shape, mask, count."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from marid.assembly.context_ports import ContextPorts
from marid.assembly.item_builder import ItemBuilder, make_level_matcher
from marid.assembly.items import ContextItem, Section
from marid.assembly.selection import Selection, Targets, make_selection_rules, resolve_targets, select_files
from marid.assembly.size_limit import enforce_limit
from marid.core.context import ContextReport, ContextRequest, Level
from marid.core.events import ContextEvent, Emit, FileProblem, WalkProgress
from marid.text.display import quote_path
from marid.text.secrets.masker import Masker
from marid.workspace.read import Content, FileReader
from marid.workspace.walk import Folder, SelectionRules

if TYPE_CHECKING:
    from marid.assembly.content_cache import ContentCache
    from marid.assembly.symbol_excerpts import AnchoredSymbol
    from marid.text.tokens import CachedCounter

T = TypeVar("T")

_GROUP_BYTES = 4 << 20
_GROUP_FILES = 500


class Assembler:
    """The parts of one request's work, each done when it is first asked for."""

    def __init__(
        self, request: ContextRequest, means: ContextPorts, emit: Emit, memory: "ContentCache | None" = None
    ) -> None:
        self.request = request
        self.ports = means
        self._content_cache = memory
        self.emit = self._with_problem_count(emit)
        self.problems = 0
        self.files = 0
        self.bytes = 0
        self.masked = 0
        self.tokens: int | None = None
        self.max_bytes: int | None = None
        masker = Masker() if request.render.mask else None
        self.item_builder = ItemBuilder(masker, means.outlines, line_numbers=request.render.line_numbers)
        self.symbols: dict[str, tuple[AnchoredSymbol, ...]] = {}
        self._level_matcher = make_level_matcher(request.render.levels)

    def _with_problem_count(self, emit: Emit) -> Emit:
        def count_and_emit(what: ContextEvent) -> None:
            if isinstance(what, FileProblem):
                self.problems += 1
            emit(what)

        return count_and_emit

    @cached_property
    def selection(self) -> Selection:
        """The files that the request means. Walks when first asked for."""
        if self._content_cache is not None:
            self._content_cache.selection = self._content_cache.selection or self._select()
            return self._content_cache.selection
        return self._select()

    def _select(self) -> Selection:
        request, wanted = self.request, self.request.selection
        targets = resolve_targets(wanted.targets, request.cwd, wanted.base)
        ruling = make_selection_rules(wanted, request.cwd, self.ports.user_git_files, self.ports.settings_rules)
        found = self._walk_targets(targets, ruling)
        if wanted.changed_since:
            found = found.restrict_to(frozenset(self.ports.git().changed_files(targets.top, wanted.changed_since)))
        for path in (request.output, request.redirect, request.lock):
            if path:
                found = found.exclude_path(os.path.join(request.cwd, path))
        self.emit(WalkProgress(files=found.file_count()))
        return found

    def _walk_targets(self, targets: Targets, ruling: SelectionRules) -> Selection:
        fence, reasons = self.request.fence, bool(self.request.lock)
        if fence is None:
            return select_files(targets, ruling, self.emit, reasons=reasons)
        from marid.assembly.caller_limits import check_targets, without_protected  # imported when used: users have none

        check_targets(targets, fence)
        return without_protected(select_files(targets, ruling, self.emit, reasons=reasons), fence)

    @cached_property
    def reader(self) -> FileReader:
        """Reads the selected files."""

        def on_problem(path: str, reason: str) -> None:
            self.emit(FileProblem(path=quote_path(path), reason=reason))

        return FileReader(self.selection.top, on_problem, skip=self.output_identity)

    @cached_property
    def output_identity(self) -> tuple[int, int] | None:
        """Device and inode of an output that exists already: a hard link to it must not be read either."""
        return _stat_output(self.request)

    @property
    def is_plain(self) -> bool:
        """Whether every file is simply read, masked and written, one like the other."""
        shown = self.request.render
        extras = (shown.budget is not None, shown.tokens, shown.line_numbers, self.request.lock, self._content_cache)
        return not any(extras) and not self.symbols and self._level_matcher is None

    @cached_property
    def counter(self) -> "CachedCounter":
        """Counts tokens, remembering by content."""
        # Imported when used: most runs count nothing.
        from marid.text.tokens import CachedCounter, make_counter

        return CachedCounter(make_counter(self.request.encoding), self.ports.cache())

    def items(self) -> Iterator[ContextItem]:
        """Every selected text file as it will be written, in order."""
        if self.symbols or self._level_matcher:
            return (self.item(content) for content in self.contents())
        return map(self.item_builder.build_full, self.contents())

    def read(self, folders: list[Folder]) -> Iterator[Content]:
        """The text files among some selected ones, from memory where they are known."""
        return (
            self.reader.read(folders) if self._content_cache is None else self._content_cache.read(self.reader, folders)
        )

    def contents(self) -> Iterator[Content]:
        """Every selected text file as it was read.

        Raises: Exhausted as soon as they hold more than `max_bytes`, if that is set.
        """
        contents = self.read(self.selection.folders)
        if self.max_bytes is None:
            return contents
        return enforce_limit(contents, self.selection, self.max_bytes, lambda: self.reader.huge_bytes)

    def item(self, content: Content) -> ContextItem:
        """One file, shaped by the user's own choices."""
        if content.path in self.symbols:
            made, self.symbols[content.path] = self.item_builder.build_symbols(content, self.symbols[content.path])
            return made
        return self.item_builder.build(content, self.pinned_level(content.path) or Level.FULL)

    def pinned_level(self, path: str) -> Level | None:
        """The level that the user gave this path."""
        if path in self.symbols:
            return Level.FULL
        return self._level_matcher.level_of(path) if self._level_matcher else None

    def tally_items(self, items: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """The same items, added up for the report."""
        for item in items:
            self.files += 1
            self.masked += item.masked
            self.bytes += len(item.body)
            if item.tokens is not None:
                self.tokens = (self.tokens or 0) + item.tokens
            yield item

    def count_tokens(self, items: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """The same items with their tokens."""
        for group in group_by_size(items, lambda item: len(item.body)):
            tokens = self.counter.count_many([item.body for item in group])
            for item, count in zip(group, tokens, strict=True):
                yield item._replace(tokens=count)

    def sections(self) -> list[Section]:
        """What stands before the files. Secrets are masked here too."""
        shown, top = self.request.render, self.selection.top
        found: list[Section] = []
        if shown.with_tree:
            from marid.assembly.views.statistics import FileRow, render_tree

            rows = (FileRow(path) for path in self.selection.paths())
            body = "".join(f"{line}\n" for line in render_tree(rows, top))
            found.append(Section("tree", "Tree", body.encode()))
        if shown.log or shown.diff is not None:
            found += self._git_sections()
        return found

    def _git_sections(self) -> Iterator[Section]:
        # Imported when used: few runs ask git.
        from marid.assembly.git_sections import masked_diff, masked_log

        shown, selection, git = self.request.render, self.selection, self.ports.git()
        if shown.log:
            body, masked = masked_log(git.log(selection.top, shown.log), self.item_builder.mask)
            self.masked += masked
            yield Section("git_log", f"Git Log: last {shown.log} commits", body)
        if shown.diff is not None:
            body, masked = masked_diff(git.diff(selection.top, shown.diff or None), selection, self.item_builder.mask)
            self.masked += masked
            yield Section("git_diff", f"Git Diff: {shown.diff or 'HEAD'}", body, "diff")

    def report(self) -> ContextReport:
        """What came of it."""
        tally = self.selection.walker.skip_counts
        return ContextReport(
            files=self.files,
            bytes=self.bytes,
            masked=self.masked,
            links=tally.links,
            special=tally.special,
            binaries=self.reader.binaries,
            problems=self.problems,
            tokens=self.tokens,
            exact=self.tokens is None or self.counter.exact,
        )


def _stat_output(request: ContextRequest) -> tuple[int, int] | None:
    if not request.output:
        return None
    try:
        about = os.stat(os.path.join(request.cwd, request.output))
    except OSError:
        return None
    return about.st_dev, about.st_ino


def group_by_size(items: Iterable[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Groups small enough to keep and large enough to be worked on at once."""
    group: list[T] = []
    size = 0
    for item in items:
        group.append(item)
        size += size_of(item)
        if size >= _GROUP_BYTES or len(group) >= _GROUP_FILES:
            yield group
            group, size = [], 0
    if group:
        yield group
