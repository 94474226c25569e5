"""In which order partitions follow one another: by the numbers of their entries, which no file but their own tells."""

from bisect import bisect, insort
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from marid.adapters.store.entry_lines import parse_lines


class SequenceSpan(NamedTuple):
    """The numbers that a partition's entries have of their own: none when `begin` is 0. `time_ms` is of the first."""

    begin: int
    end: int
    time_ms: int
    file: str
    entry_count: int


def span_of(file: str, data: bytes) -> SequenceSpan:
    """What a partition says of itself. Entries without a number come right before the first that has one."""
    begin, end, time_ms, count = 0, 0, 0, 0
    for line in parse_lines(data, before=-1):
        end = line.entry.sequence
        if not begin and end > count:
            begin = end - count
        time_ms = time_ms if count else line.entry.time_ms
        count += 1
    return SequenceSpan(begin, end if begin else 0, time_ms, file, count)


def order_partitions(
    known: Sequence[SequenceSpan], others: Sequence[SequenceSpan], listed: Mapping[str, object]
) -> list[str]:
    """Those whose numbers are known for sure, and the others by their own; `listed` is the order that somebody else has
    given, and counts for those without numbers.

    None that has numbers may get others. So what has the numbers of another one, as a copy has, comes last, and what
    has none comes last as well where the numbers are known, since a gap in them belongs to one that is away. Where
    nothing is known for sure, it comes where it is listed, or by its time.
    """
    rank = {file: number for number, file in enumerate(listed)}
    placed = sorted(known)
    bare, late = list[SequenceSpan](), list[SequenceSpan]()
    for span in sorted(others, key=lambda one: (one.begin, rank.get(one.file, len(rank)), one.time_ms, one.file)):
        if not span.begin:
            bare.append(span)
        elif _is_disjoint(placed, span):
            insort(placed, span)
        else:
            late.append(span)
    if known:
        last = sorted(bare + late, key=lambda one: (one.time_ms, one.file))
        return [span.file for span in placed + last]
    return [span.file for span in _insert_unnumbered(placed, bare, rank) + late]


def _is_disjoint(placed: list[SequenceSpan], span: SequenceSpan) -> bool:
    """Whether nobody else has these numbers."""
    at = bisect(placed, span)
    return (at == 0 or placed[at - 1].end < span.begin) and (at == len(placed) or placed[at].begin > span.end)


def _insert_unnumbered(
    placed: list[SequenceSpan], bare: list[SequenceSpan], rank: Mapping[str, int]
) -> list[SequenceSpan]:
    """With those that have no numbers: each where it is listed, else by its time."""
    slots: list[list[SequenceSpan]] = [[] for _ in range(len(placed) + 1)]
    for span in bare:
        at = _slot_by_listing(placed, span, rank)
        slots[_slot_by_time(placed, span) if at < 0 else at].append(span)
    return [span for slot, one in zip(slots, [[span] for span in placed] + [[]], strict=True) for span in slot + one]


def _slot_by_listing(placed: list[SequenceSpan], span: SequenceSpan, rank: Mapping[str, int]) -> int:
    """Right behind the last that is listed before it, or before the first that is listed behind it; else -1."""
    own = rank.get(span.file, -1)
    before = [at for at, one in enumerate(placed) if 0 <= rank.get(one.file, -1) < own]
    behind = [at for at, one in enumerate(placed) if rank.get(one.file, -1) > own >= 0]
    return max(before) + 1 if before else min(behind, default=-1)


def _slot_by_time(placed: list[SequenceSpan], span: SequenceSpan) -> int:
    """Behind all that are not later. Among those of the same time, where numbers are missing."""
    last = sum(one.time_ms <= span.time_ms for one in placed)
    first = sum(one.time_ms < span.time_ms for one in placed)
    for at in range(first, last):
        end = placed[at - 1].end if at else 0
        if placed[at].begin - end - 1 >= max(1, span.entry_count):
            return at
    return last
