"""What an edit changes, as a unified diff that a person reads before saying yes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTEXT_LINES = 3
# Steps of the search for the shortest diff, and lines that all of them may touch: beyond it the whole middle is shown
# as replaced.
_MAX_STEPS, _MAX_TOUCHED = 300, 4_000_000


class DiffBlock(NamedTuple):
    """Lines `a1` up to `a2` of the old text give way to lines `b1` up to `b2` of the new one; from 0, ends excluded."""

    a1: int
    a2: int
    b1: int
    b2: int


def unified_diff(before: bytes | None, after: bytes, name: str) -> Iterator[str]:
    """The lines of the diff, without line ends and not yet fit to be printed. None before: the file is new."""
    yield f"--- {name}" if before is not None else "--- (new file)"
    yield f"+++ {name}"
    if b"\0" in after or b"\0" in (before or b""):
        yield from _binary_diff(before, after)
        return
    old, new = _split_lines(before or b""), _split_lines(after)
    for hunk in _group_hunks(diff_blocks(old, new)):
        yield from _render_hunk(old, new, hunk)


def diff_blocks(old: Sequence[str], new: Sequence[str]) -> list[DiffBlock]:
    """What differs, in order."""
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
    """Myers' greedy search, furthest point on each diagonal; None when it would take too many steps."""
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    most = min(_MAX_STEPS, len(a) + len(b), _MAX_TOUCHED // (len(a) + len(b)))
    for steps in range(most + 1):
        trail.append(dict(reach))
        for diagonal in range(-steps, steps + 1, 2):
            x = _furthest(reach, diagonal, steps)
            while x < len(a) and 0 <= x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            reach[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                return _join_steps(_backtrack(trail, len(a), len(b)))
    return None


def _furthest(reach: dict[int, int], diagonal: int, steps: int) -> int:
    down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
    return reach[diagonal + 1] if down else reach[diagonal - 1] + 1


def _backtrack(trail: list[dict[int, int]], x: int, y: int) -> Iterator[DiffBlock]:
    """The single steps of the way, from its end."""
    for steps in range(len(trail) - 1, 0, -1):
        reach, diagonal = trail[steps], x - y
        down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
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
    """Blocks so near to each other that they share their context."""
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


def _split_lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _binary_diff(before: bytes | None, after: bytes) -> Iterator[str]:
    import hashlib

    for mark, data in (("-", before), ("+", after)):
        if data is not None:
            yield f"{mark}binary, {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}"
