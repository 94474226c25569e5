"""Find which of many byte strings occur in a text: a plain loop for little text, hyperscan for much."""

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from marid.core.errors import Unavailable

# Hyperscan counts the bytes of a text in 32 bits.
MAX_SCAN_BYTES = 2**32 - 1


class LiteralFinder(Protocol):
    """Finds fixed literals; all finders for the same literals give the same result."""

    def find(self, data: bytes) -> Sequence[int]:
        """The indexes of the literals that occur in `data`, each once, in any order; raises nothing."""
        ...


class BuildFinder(Protocol):
    """Builds a finder that is fast on much text."""

    def __call__(self, literals: Sequence[bytes], *, caseless: bool) -> LiteralFinder:
        """Raises: Unavailable."""
        ...


class ScanFunction(Protocol):
    """Calls `note(index, start, end, flags, hits)` for each literal found."""

    def __call__(self, data: bytes, note: "OnLiteral", flags: int, hits: list[int], /) -> None: ...


OnLiteral = Callable[[int, int, int, int, list[int]], None]


class PlainFinder:
    """One search per literal: slow, but needs no preparation and no library. `caseless` literals are in lower case."""

    def __init__(self, literals: Sequence[bytes], *, caseless: bool) -> None:
        self._literals = tuple(enumerate(literals))
        self._caseless = caseless

    def find(self, data: bytes) -> Sequence[int]:
        text = data.lower() if self._caseless else data
        return [number for number, literal in self._literals if literal in text]


class HyperscanFinder:
    """One pass for all literals; data that the scan refuses goes to `plain`."""

    def __init__(
        self, scan: ScanFunction, refusal: type[Exception], plain: LiteralFinder, *, longest: int = MAX_SCAN_BYTES
    ) -> None:
        self._scan = scan
        self._refusal = refusal
        self._plain = plain
        self._max_bytes = longest

    def find(self, data: bytes) -> Sequence[int]:
        if len(data) > self._max_bytes:
            return self._plain.find(data)
        hits: list[int] = []
        try:
            self._scan(data, _append_match, 0, hits)
        except self._refusal:  # such as a second thread in the same scan
            return self._plain.find(data)
        return hits


def _append_match(number: int, _start: int, _end: int, _flags: int, hits: list[int]) -> None:
    hits.append(number)


def build_hyperscan_finder(literals: Sequence[bytes], *, caseless: bool) -> LiteralFinder:
    """A finder that takes some milliseconds to build. Raises: Unavailable if hyperscan is missing or does not run."""
    try:
        import hyperscan
    except ImportError as cause:
        raise Unavailable("hyperscan is not installed") from cause
    flags = hyperscan.HS_FLAG_SINGLEMATCH | (hyperscan.HS_FLAG_CASELESS if caseless else 0)
    try:
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        database.compile(expressions=literals, ids=range(len(literals)), flags=flags, literal=True)
    except hyperscan.error as cause:
        raise Unavailable("hyperscan does not run") from cause
    return HyperscanFinder(cast(ScanFunction, database.scan), hyperscan.error, PlainFinder(literals, caseless=caseless))


class AdaptiveFinder:
    """The plain loop for the first `warm_bytes` of a run, then the finder from `build` if available."""

    def __init__(
        self, literals: Sequence[bytes], *, caseless: bool, warm_bytes: int, build: BuildFinder = build_hyperscan_finder
    ) -> None:
        self._literals = literals
        self._caseless = caseless
        self._cold_bytes = warm_bytes
        self._build: BuildFinder | None = build
        self.finder: LiteralFinder = PlainFinder(literals, caseless=caseless)

    def find(self, data: bytes) -> Sequence[int]:
        if self._build is not None:
            self._cold_bytes -= len(data)
            if self._cold_bytes < 0:
                self.warm()
        return self.finder.find(data)

    def warm(self) -> None:
        """Switch to the fast finder now."""
        build, self._build = self._build, None  # tried once: a missing library stays missing
        if build is None:
            return
        try:
            self.finder = build(self._literals, caseless=self._caseless)
        except Unavailable:
            return
