"""From a request's targets to its items: select, read, shape, mask, count."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from marid.assembly.items import Item, Section
from marid.assembly.levels import Shaper, level_choice
from marid.assembly.limit import within
from marid.assembly.means import Means
from marid.assembly.select import Selection, Targets, locate, ruling_of, select
from marid.core.context import ContextRequest, Level, Report
from marid.core.events import Emit, Happening, Problem, Walked
from marid.text.secrets import Masker
from marid.text.visible import shown_path
from marid.workspace.read import Content, Reader
from marid.workspace.walk import Folder, Ruling

if TYPE_CHECKING:
    from marid.assembly.memory import Memory
    from marid.assembly.symbols import Chosen
    from marid.text.tokens import CachedCounter

T = TypeVar("T")

_GROUP_BYTES = 4 << 20
_GROUP_FILES = 500


class Assembler:
    """The parts of one request's work, each done when it is first asked for."""

    def __init__(self, request: ContextRequest, means: Means, emit: Emit, memory: "Memory | None" = None) -> None:
        self.request = request
        self.means = means
        self._memory = memory
        self.emit = self._counting(emit)
        self.problems = 0
        self.files = 0
        self.bytes = 0
        self.masked = 0
        self.tokens: int | None = None
        self.max_bytes: int | None = None
        masker = Masker() if request.shown.mask else None
        self.shaper = Shaper(masker, means.outlines, line_numbers=request.shown.line_numbers)
        self.symbols: dict[str, tuple[Chosen, ...]] = {}
        self._levels = level_choice(request.shown.levels)

    def _counting(self, emit: Emit) -> Emit:
        def counted(what: Happening) -> None:
            if isinstance(what, Problem):
                self.problems += 1
            emit(what)

        return counted

    @cached_property
    def selection(self) -> Selection:
        """The files that the request means. Walks when first asked for."""
        if self._memory is not None:
            self._memory.selection = self._memory.selection or self._select()
            return self._memory.selection
        return self._select()

    def _select(self) -> Selection:
        request, wanted = self.request, self.request.wanted
        targets = locate(wanted.targets, request.cwd, wanted.base)
        ruling = ruling_of(wanted, request.cwd, self.means.user, self.means.rules)
        found = self._selected(targets, ruling)
        if wanted.changed_since:
            found = found.only(frozenset(self.means.git().changed(targets.top, wanted.changed_since)))
        for path in (request.output, request.redirect, request.lock):
            if path:
                found = found.without(os.path.join(request.cwd, path))
        self.emit(Walked(files=found.size()))
        return found

    def _selected(self, targets: Targets, ruling: Ruling) -> Selection:
        fence, reasons = self.request.fence, bool(self.request.lock)
        if fence is None:
            return select(targets, ruling, self.emit, reasons=reasons)
        from marid.assembly.fence import check_targets, fenced  # imported when used: users have none

        check_targets(targets, fence)
        return fenced(select(targets, ruling, self.emit, reasons=reasons), fence)

    @cached_property
    def reader(self) -> Reader:
        """Reads the selected files."""

        def on_problem(path: str, reason: str) -> None:
            self.emit(Problem(path=shown_path(path), reason=reason))

        return Reader(self.selection.top, on_problem, skip=self.skip)

    @cached_property
    def skip(self) -> tuple[int, int] | None:
        """Device and inode of an output that exists already: a hard link to it must not be read either."""
        return _identity(self.request)

    @property
    def plain(self) -> bool:
        """Whether every file is simply read, masked and written, one like the other."""
        shown = self.request.shown
        extras = (shown.budget is not None, shown.tokens, shown.line_numbers, self.request.lock, self._memory)
        return not any(extras) and not self.symbols and self._levels is None

    @cached_property
    def counter(self) -> "CachedCounter":
        """Counts tokens, remembering by content."""
        # Imported when used: most runs count nothing.
        from marid.text.tokens import CachedCounter, counter

        return CachedCounter(counter(self.request.encoding), self.means.cache())

    def items(self) -> Iterator[Item]:
        """Every selected text file as it will be written, in order."""
        if self.symbols or self._levels:
            return (self.item(content) for content in self.contents())
        return map(self.shaper.full, self.contents())

    def read(self, folders: list[Folder]) -> Iterator[Content]:
        """The text files among some selected ones, from memory where they are known."""
        return self.reader.read(folders) if self._memory is None else self._memory.read(self.reader, folders)

    def contents(self) -> Iterator[Content]:
        """Every selected text file as it was read.

        Raises: Exhausted as soon as they hold more than `max_bytes`, if that is set.
        """
        contents = self.read(self.selection.folders)
        if self.max_bytes is None:
            return contents
        return within(contents, self.selection, self.max_bytes, lambda: self.reader.huge)

    def item(self, content: Content) -> Item:
        """One file, shaped by the user's own choices."""
        if content.path in self.symbols:
            made, self.symbols[content.path] = self.shaper.chosen(content, self.symbols[content.path])
            return made
        return self.shaper.item(content, self.pinned(content.path) or Level.FULL)

    def pinned(self, path: str) -> Level | None:
        """The level that the user gave this path."""
        if path in self.symbols:
            return Level.FULL
        return self._levels.of(path) if self._levels else None

    def tallied(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items, added up for the report."""
        for item in items:
            self.files += 1
            self.masked += item.masked
            self.bytes += len(item.body)
            if item.tokens is not None:
                self.tokens = (self.tokens or 0) + item.tokens
            yield item

    def counted(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items with their tokens."""
        for group in grouped(items, lambda item: len(item.body)):
            tokens = self.counter.count_many([item.body for item in group])
            for item, count in zip(group, tokens, strict=True):
                yield item._replace(tokens=count)

    def sections(self) -> list[Section]:
        """What stands before the files. Secrets are masked here too."""
        shown, top = self.request.shown, self.selection.top
        found: list[Section] = []
        if shown.with_tree:
            from marid.assembly.views import Row, tree

            rows = (Row(path) for path in self.selection.paths())
            body = "".join(f"{line}\n" for line in tree(rows, top))
            found.append(Section("tree", "Tree", body.encode()))
        if shown.log or shown.diff is not None:
            found += self._git_sections()
        return found

    def _git_sections(self) -> Iterator[Section]:
        # Imported when used: few runs ask git.
        from marid.assembly.gitstate import shown_diff, shown_log

        shown, selection, git = self.request.shown, self.selection, self.means.git()
        if shown.log:
            body, masked = shown_log(git.log(selection.top, shown.log), self.shaper.mask)
            self.masked += masked
            yield Section("git_log", f"Git Log: last {shown.log} commits", body)
        if shown.diff is not None:
            body, masked = shown_diff(git.diff(selection.top, shown.diff or None), selection, self.shaper.mask)
            self.masked += masked
            yield Section("git_diff", f"Git Diff: {shown.diff or 'HEAD'}", body, "diff")

    def report(self) -> Report:
        """What came of it."""
        tally = self.selection.walker.tally
        return Report(
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


def _identity(request: ContextRequest) -> tuple[int, int] | None:
    if not request.output:
        return None
    try:
        about = os.stat(os.path.join(request.cwd, request.output))
    except OSError:
        return None
    return about.st_dev, about.st_ino


def grouped(items: Iterable[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
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
