"""The values between the stages of a pack: sections, items, and batches of output with their tally."""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from marid.core.context import Level, SymbolDetail

if TYPE_CHECKING:
    from marid.text.edit.text_anchors import TextAnchor

Buffers: TypeAlias = list[bytes]


class AnchoredSymbol(NamedTuple):
    """A chosen symbol, with the anchor from the lock file."""

    name: str
    choice: SymbolDetail
    anchor: "TextAnchor | None" = None


class Section(NamedTuple):
    """The tree, a diff or a log before the files. `kind` is its tag, `title` its heading."""

    kind: str
    title: str
    body: bytes
    fence_language: str = ""
    masked: int = 0


class ContextItem(NamedTuple):
    """One file as it will be written. `body` is UTF-8; `spans` are its lines if only a part is shown."""

    path: str
    body: bytes
    size: int
    modified: float
    encoding: str
    level: Level = Level.FULL
    masked: int = 0
    tokens: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
    symbols: tuple[AnchoredSymbol, ...] = ()


class Tally(NamedTuple):
    """Counts: `bytes` written, `size` on disk; `tokens` is None if they were not counted."""

    files: int = 0
    bytes: int = 0
    size: int = 0
    masked: int = 0
    binaries: int = 0
    problems: int = 0
    tokens: int | None = None

    def plus(self, other: "Tally") -> "Tally":
        """The sum of two tallies."""
        counts = (mine + theirs for mine, theirs in zip(self[:-1], other[:-1], strict=True))
        counted = [tokens for tokens in (self.tokens, other.tokens) if tokens is not None]
        return Tally(*counts, tokens=sum(counted) if counted else None)


class Batch(NamedTuple):
    """A part of the output, and its tally."""

    buffers: Buffers
    tally: Tally = Tally()


def tally_item(item: ContextItem) -> Tally:
    """The tally of one file."""
    return Tally(1, len(item.body), item.size, item.masked, tokens=item.tokens)
