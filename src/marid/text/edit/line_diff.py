"""Unified diffs for approvals."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from marid.text.content_hash import sha256_hex
from marid.text.edit.text_edits import split_lines

CONTEXT_LINES = 3
# Limits of the search for the shortest diff, in steps and in lines touched. Beyond them the whole middle counts as
# replaced.
_MAX_STEPS, _MAX_TOUCHED = 300, 4_000_000


class DiffBlock(NamedTuple):
    """Lines `a1` to `a2` of the old text become lines `b1` to `b2` of the new one; from 0, ends excluded."""

    a1: int
    a2: int
    b1: int
    b2: int


def unified_diff(before: bytes | None, after: bytes, name: str) -> Iterator[str]:
    """The lines of the diff, without line endings and not escaped. `before` is None for a new file."""
    yield f"--- {name}" if before is not None else "--- (new file)"
    yield f"+++ {name}"
    if b"\0" in after or b"\0" in (before or b""):
        for mark, data in (("-", before), ("+", after)):
            if data is not None:
                yield f"{mark}binary, {len(data):,} bytes, sha256 {sha256_hex(data)}"
        return
    old, new = (split_lines(data.decode("utf-8", "backslashreplace")) for data in (before or b"", after))
    for hunk in _group_hunks(diff_blocks(old, new)):
        yield from _render_hunk(old, new, hunk)


def diff_blocks(old: Sequence[str], new: Sequence[str]) -> list[DiffBlock]:
    """The differences in order."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if not a and not b:
        return []
    found = _shortest_edit(a, b) if a and b else None
    middle = found if found is not None else [DiffBlock(0, len(a), 0, len(b))]
    return [DiffBlock(start + one.a1, start + one.a2, start + one.b1, start + one.b2) for one in middle]


def _shortest_edit(a: Sequence[str], b: Sequence[str]) -> list[DiffBlock] | None:
    """Myers' greedy search by the furthest point on each diagonal; None if it would take too many steps."""
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    most = min(_MAX_STEPS, len(a) + len(b), _MAX_TOUCHED // (len(a) + len(b)))
    for steps in range(most + 1):
        trail.append(dict(reach))
        for diagonal in range(-steps, steps + 1, 2):
            x = reach[diagonal + 1] if _goes_down(reach, diagonal, steps) else reach[diagonal - 1] + 1
            while x < len(a) and 0 <= x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            reach[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                return _join_steps(_backtrack(trail, len(a), len(b)))
    return None


def _goes_down(reach: dict[int, int], diagonal: int, steps: int) -> bool:
    return diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])


def _backtrack(trail: list[dict[int, int]], x: int, y: int) -> Iterator[DiffBlock]:
    """The single steps of the path, from its end."""
    for steps in range(len(trail) - 1, 0, -1):
        reach, diagonal = trail[steps], x - y
        down = _goes_down(reach, diagonal, steps)
        before = diagonal + 1 if down else diagonal - 1
        x, y = reach[before], reach[before] - before
        yield DiffBlock(x, x, y, y + 1) if down else DiffBlock(x, x + 1, y, y)


def _join_steps(steps: Iterator[DiffBlock]) -> list[DiffBlock]:
    joined: list[DiffBlock] = []
    for step in reversed(list(steps)):
        if joined and joined[-1].a2 == step.a1 and joined[-1].b2 == step.b1:
            joined[-1] = DiffBlock(joined[-1].a1, step.a2, joined[-1].b1, step.b2)
        else:
            joined.append(step)
    return joined


def _group_hunks(found: Sequence[DiffBlock]) -> Iterator[list[DiffBlock]]:
    """Groups of blocks that are close enough to share their context."""
    hunk: list[DiffBlock] = []
    for block in found:
        if hunk and block.a1 - hunk[-1].a2 > 2 * CONTEXT_LINES:
            yield hunk
            hunk = []
        hunk.append(block)
    if hunk:
        yield hunk


def _render_hunk(old: Sequence[str], new: Sequence[str], hunk: Sequence[DiffBlock]) -> Iterator[str]:
    lead = min(CONTEXT_LINES, hunk[0].a1)
    tail = min(CONTEXT_LINES, len(old) - hunk[-1].a2)
    a, b = hunk[0].a1 - lead, hunk[0].b1 - lead
    yield f"@@ -{_hunk_range(a, hunk[-1].a2 + tail)} +{_hunk_range(b, hunk[-1].b2 + tail)} @@"
    at = a
    for block in hunk:
        yield from _prefix_lines(" ", old, at, block.a1)
        yield from _prefix_lines("-", old, block.a1, block.a2)
        yield from _prefix_lines("+", new, block.b1, block.b2)
        at = block.a2
    yield from _prefix_lines(" ", old, at, hunk[-1].a2 + tail)


def _prefix_lines(mark: str, lines: Sequence[str], start: int, end: int) -> Iterator[str]:
    for line in lines[start:end]:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _hunk_range(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1 if count else start}" + ("" if count == 1 else f",{count}")
