"""The stages of a pack, from targets to items: select, read, build, count."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from marid.assembly.context_ports import ContextPorts
from marid.assembly.item_builder import ItemBuilder, LevelMatcher
from marid.assembly.items import ContextItem
from marid.assembly.selection import Selection, make_selection_rules, resolve_targets, select_files
from marid.core.context import ContextRequest, Level
from marid.core.events import Emit, FileProblem, WalkProgress
from marid.text.display import quote_path
from marid.text.secrets.masker import Masker
from marid.workspace.read import Content, FileReader
from marid.workspace.walk import Folder, OnProblem

if TYPE_CHECKING:
    from marid.assembly.content_cache import ContentCache
    from marid.text.tokens import CachedCounter

T = TypeVar("T")

_GROUP_BYTES = 4 << 20
_GROUP_FILES = 500


class Assembler:
    """The stages of one request. What several stages share is made at its first use, and then not changed."""

    def __init__(
        self, request: ContextRequest, ports: ContextPorts, emit: Emit, cache: "ContentCache | None" = None
    ) -> None:
        self.request = request
        self.ports = ports
        self.emit = emit
        self._content_cache = cache
        masker = Masker() if request.render.mask else None
        self.item_builder = ItemBuilder(masker, ports.outlines, line_numbers=request.render.line_numbers)
        self._level_matcher = LevelMatcher(request.render.levels) if request.render.levels else None

    @cached_property
    def selection(self) -> Selection:
        """The selected files; the first use walks."""
        return self._select() if self._content_cache is None else self._content_cache.select(self._select)

    def _select(self) -> Selection:
        request, wanted = self.request, self.request.selection
        targets = resolve_targets(wanted.targets, request.cwd, wanted.base)
        rules = make_selection_rules(wanted, request.cwd, self.ports.user_git_files, self.ports.settings_rules)
        found = select_files(targets, rules, self.emit, self.ports.access, reasons=bool(request.lock))
        if wanted.changed_since:
            found = found.restrict_to(frozenset(self.ports.git().changed_files(targets.top, wanted.changed_since)))
        for path in (request.output, request.redirect, request.lock):
            if path:
                found = found.exclude_path(os.path.join(request.cwd, path))
        self.emit(WalkProgress(files=found.file_count()))
        return found

    @cached_property
    def symbol_builders(self) -> Mapping[str, Callable[[Content], ContextItem]]:
        """A builder for each path with chosen symbols. Raises: NotFound for a file that is not selected."""
        lock = os.path.join(self.request.cwd, self.request.lock) if self.request.lock else ""
        lock = lock if os.path.exists(lock) else ""
        if not self.request.render.symbols and not lock:
            return {}
        # Imported when used: it brings the grammars' tables.
        from marid.assembly.symbols import build_symbols, resolve_symbols

        chosen = resolve_symbols(self.request, self.selection, lock)
        return {path: partial(build_symbols, self.item_builder, symbols) for path, symbols in chosen.items()}

    @cached_property
    def reader(self) -> FileReader:
        """The reader of the run, which reports files that cannot be read."""
        return self.make_reader(lambda path, reason: self.emit(FileProblem(path=quote_path(path), reason=reason)))

    def make_reader(self, on_problem: OnProblem) -> FileReader:
        """A reader of the selected files. It skips the output file, also under the name of a hard link."""
        return FileReader(self.selection.top, on_problem, skip=self._output_identity, access=self.ports.access)

    @cached_property
    def _output_identity(self) -> tuple[int, int] | None:
        """Device and inode of the output, if it exists."""
        if not self.request.output:
            return None
        try:
            about = os.stat(os.path.join(self.request.cwd, self.request.output))
        except OSError:
            return None
        return about.st_dev, about.st_ino

    @property
    def is_plain(self) -> bool:
        """Whether every file is only read, masked and written."""
        shown = self.request.render
        extras = (shown.budget is not None, shown.tokens, shown.line_numbers, self.request.lock, self._content_cache)
        return not any(extras) and not self.symbol_builders and self._level_matcher is None

    @cached_property
    def counter(self) -> "CachedCounter":
        """A token counter with a cache by content."""
        # Imported when used: most runs do not count.
        from marid.text.tokens import CachedCounter, make_counter

        return CachedCounter(make_counter(self.request.encoding), self.ports.cache())

    def items(self) -> Iterator[ContextItem]:
        """Every selected text file as it will be written."""
        if self.symbol_builders or self._level_matcher:
            return map(self.item, self.contents())
        return map(self.item_builder.build_full, self.contents())

    def contents(self) -> Iterator[Content]:
        """Every selected text file as read."""
        return self.read(self.selection.folders)

    def read(self, folders: list[Folder]) -> Iterator[Content]:
        """The text files in `folders`, through the cache if there is one."""
        cache = self._content_cache
        return self.reader.read(folders) if cache is None else cache.read(self.reader, folders)

    def item(self, content: Content) -> ContextItem:
        """One file at the level, or with the symbols, that the user chose for it."""
        if build := self.symbol_builders.get(content.path):
            return build(content)
        return self.item_builder.build(content, self.pinned_level(content.path) or Level.FULL)

    def pinned_level(self, path: str) -> Level | None:
        """The level that the user chose for this path."""
        if path in self.symbol_builders:
            return Level.FULL
        return self._level_matcher.level_of(path) if self._level_matcher else None

    def count_tokens(self, items: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """The same items with their token counts."""
        for group in group_by_size(items, lambda item: len(item.body)):
            tokens = self.counter.count_many([item.body for item in group])
            for item, count in zip(group, tokens, strict=True):
                yield item._replace(tokens=count)


def group_by_size(items: Iterable[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Groups of a few megabytes, to count together."""
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
