"""Find which of many byte strings occur in a text: a plain loop for little text, hyperscan for much."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, TypeAlias, cast

from marid.core.errors import Unavailable

# Hyperscan counts the bytes of a text in 32 bits.
MAX_SCAN_BYTES = 2**32 - 1

FindLiterals: TypeAlias = Callable[[bytes], Sequence[int]]
"""Returns the indexes of the literals that occur in the data, each once, in any order; raises nothing."""
OnLiteral: TypeAlias = Callable[[int, int, int, int, list[int]], None]
ScanFunction: TypeAlias = Callable[[bytes, OnLiteral, int, list[int]], None]
"""Calls `note(index, start, end, flags, hits)` for each literal found: `scan(data, note, flags, hits)`."""


class BuildFinder(Protocol):
    """Builds a finder that is fast on much text."""

    def __call__(self, literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
        """Raises: Unavailable."""
        ...


def build_plain_finder(literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
    """One search per literal: slow, but needs no preparation and no library. `caseless` literals are in lower case."""
    numbered = tuple(enumerate(literals))

    def find(data: bytes) -> Sequence[int]:
        text = data.lower() if caseless else data
        return [number for number, literal in numbered if literal in text]

    return find


def build_scan_finder(
    scan: ScanFunction, refusal: type[Exception], plain: FindLiterals, max_bytes: int = MAX_SCAN_BYTES
) -> FindLiterals:
    """One pass for all literals; data that the scan refuses goes to `plain`."""

    def find(data: bytes) -> Sequence[int]:
        hits: list[int] = []
        try:
            if len(data) <= max_bytes:
                scan(data, _append_match, 0, hits)
                return hits
        except refusal:  # such as a second thread in the same scan
            pass
        return plain(data)

    return find


def _append_match(number: int, _start: int, _end: int, _flags: int, hits: list[int]) -> None:
    hits.append(number)


def build_hyperscan_finder(literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
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
    plain = build_plain_finder(literals, caseless=caseless)
    return build_scan_finder(cast(ScanFunction, database.scan), hyperscan.error, plain)


class AdaptiveFinder:
    """The plain loop for the first `warm_bytes` of a run, then the finder from `build` if available."""

    def __init__(
        self, literals: Sequence[bytes], *, caseless: bool, warm_bytes: int, build: BuildFinder = build_hyperscan_finder
    ) -> None:
        self._literals = literals
        self._caseless = caseless
        self._cold_bytes = warm_bytes
        self._build: BuildFinder | None = build
        self.find_now = build_plain_finder(literals, caseless=caseless)

    def find(self, data: bytes) -> Sequence[int]:
        if self._build is not None:
            self._cold_bytes -= len(data)
            if self._cold_bytes < 0:
                self.warm()
        return self.find_now(data)

    def warm(self) -> None:
        """Switch to the fast finder now."""
        build, self._build = self._build, None  # tried once: a missing library stays missing
        with suppress(Unavailable):
            if build is not None:
                self.find_now = build(self._literals, caseless=self._caseless)
