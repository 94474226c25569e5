"""Search the text of many files. Files that cannot match are skipped; a regular expression runs in workers."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import NamedTuple, TypeAlias

from marid.core.errors import Exhausted
from marid.ports.workers import Workers
from marid.text.decode import WIDE_BOMS, to_utf8
from marid.text.line_search import LineHit, LinePattern, find_hits
from marid.text.literal_finder import AdaptiveFinder
from marid.workspace.guard.api import OpenFolder

# The first batch is small, since most searches end with it; later ones are large enough for several workers.
_FIRST_BATCH_BYTES = 128 << 10
_MAX_BATCH_BYTES = 8 << 20
_CALL_BYTES = 1 << 20
# After this much text, building a faster matcher pays off.
_WARM_BYTES = 1 << 20
# Letters outside ASCII whose other case is i, k or s.
_ODD_CASES = tuple(letter.encode() for letter in "\u0130\u0131\u017f\u212a")


class SearchedFile(NamedTuple):
    """A file to search."""

    path: str
    data: bytes


class FileHits(NamedTuple):
    """A file with hits; `data` is its text in UTF-8 or a one-byte encoding."""

    path: str
    data: bytes
    hits: list[LineHit]


class TextSearch(NamedTuple):
    """The pattern, the most hits and the timeout in seconds."""

    pattern: LinePattern
    max_hits: int
    timeout: float = 20.0


PathFilter: TypeAlias = Callable[[str], bool]


def iter_files(
    folders: Iterable[OpenFolder], wanted: PathFilter | None = None, within: str = ""
) -> Iterator[SearchedFile]:
    """The readable files of a walk whose relative path is `wanted`; their paths get the prefix `within`."""
    for folder in folders:
        prefix = f"{folder.path}/" if folder.path else ""
        for name in folder.names:
            path = prefix + name
            if (wanted is None or wanted(path)) and (data := folder.read(name)):
                yield SearchedFile(within + path, data)


class Grep:
    """One search over many files; only a regular expression needs workers.

    Afterwards `is_complete` tells whether all hits were returned, `timed_out` whether time ran out.
    """

    def __init__(self, search: TextSearch, workers: Workers | None = None) -> None:
        if workers is None and not search.pattern.is_literal:
            raise ValueError("a regular expression needs workers")
        self._pattern = search.pattern
        self._left = search.max_hits
        self._deadline = monotonic() + search.timeout
        self._workers = workers
        self.is_complete = True
        self.timed_out = False

    def run(self, files: Iterable[SearchedFile]) -> Iterator[FileHits]:
        """The files with hits, in order. Raises: Exhausted if the pattern takes too much time or memory, BadInput."""
        candidates = self._until_deadline(filter(make_prefilter(self._pattern), files))
        first_bytes, max_bytes = (0, 0) if self._pattern.is_literal else (_FIRST_BATCH_BYTES, _MAX_BATCH_BYTES)
        for batch in _batches(candidates, first_bytes, max_bytes):
            for source, hits in zip(batch, self._hits(batch), strict=True):
                if not hits:
                    continue
                if self._left <= 0:
                    self.is_complete = False
                    return
                taken = hits[: self._left]
                self.is_complete = len(taken) == len(hits)
                self._left -= len(taken)
                yield FileHits(source.path, _to_narrow_text(source.data), taken)

    def _until_deadline(self, files: Iterable[SearchedFile]) -> Iterator[SearchedFile]:
        for source in files:
            if monotonic() > self._deadline:
                self.timed_out = True
                self.is_complete = False
                return
            yield source

    def _hits(self, batch: list[SearchedFile]) -> Iterator[list[LineHit]]:
        most = self._left + 1  # one more than needed, to know if there are more
        pattern = self._pattern
        if self._workers is None or pattern.is_literal:
            yield from find_hits(pattern, [source.data for source in batch], most)
            return
        groups = _batches(batch, _CALL_BYTES, _CALL_BYTES)
        calls = [(pattern, [source.data for source in group], most) for group in groups]
        cost = [sum(map(len, texts)) for _, texts, _ in calls]
        for answer in self._workers.run_all(find_hits, calls, cost=cost):
            if isinstance(answer, Exhausted):
                raise Exhausted("the pattern takes too long or too much memory: use a simpler one") from answer
            if isinstance(answer, Exception):
                raise answer
            yield from answer


def make_prefilter(pattern: LinePattern) -> Callable[[SearchedFile], bool]:
    """A cheap test whether a file may match; False is always right."""
    needles = tuple(needle.encode() for needle in pattern.required_literals)
    if not needles:
        return lambda source: True
    if not all(map(bytes.isascii, needles)):
        return lambda source: any(needle in source.data for needle in needles) or _is_legacy_encoded(source.data)
    # All encodings but UTF-16 and UTF-32 have the same bytes for ASCII.
    odd = _ODD_CASES if pattern.caseless else ()
    find = AdaptiveFinder((*needles, *odd), caseless=pattern.caseless, warm_bytes=_WARM_BYTES).find
    return lambda source: bool(find(source.data)) or source.data.startswith(WIDE_BOMS)


def _is_legacy_encoded(data: bytes) -> bool:
    """Whether a text is in an encoding other than UTF-8."""
    text = to_utf8(data)
    return text is not None and text[1] != "utf-8"


def _to_narrow_text(data: bytes) -> bytes:
    """The text in an encoding where a newline is one byte, without a byte order mark."""
    text = to_utf8(data) if data.startswith(WIDE_BOMS) else None
    return text[0] if text else data.removeprefix(BOM_UTF8)


def _batches(files: Iterable[SearchedFile], first_bytes: int, max_bytes: int) -> Iterator[list[SearchedFile]]:
    """Groups of files, small ones first; each is four times as large as the one before, up to `max_bytes`."""
    batch: list[SearchedFile] = []
    size, full = 0, first_bytes
    for source in files:
        batch.append(source)
        size += len(source.data)
        if size >= full:
            yield batch
            batch, size, full = [], 0, min(4 * full, max_bytes)
    if batch:
        yield batch
