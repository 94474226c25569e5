"""Which Beads issues are ready to work on, and ids for new ones."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from marid.text.beads.issue_lines import DELETED_STATUS, IssueRecord, string_field, time_field

MAX_ID_LENGTH = 8
_DONE_STATUSES = ("closed", "pinned", DELETED_STATUS)
_BLOCKING_KINDS = ("blocks", "conditional-blocks", "waits-for")
_NON_WORK_TYPES = ("gate", "molecule", "message", "merge-request", "agent", "role", "rig")
_LEAST_URGENT = 4
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def ready_issues(records: Sequence[IssueRecord], now: datetime) -> list[IssueRecord]:
    """The open issues that nothing blocks: most urgent first, then newest first."""
    known = {string_field(record, "id"): record for record in records}
    blocked = _blocked_ids(known, now)
    free = [record for name, record in known.items() if name not in blocked and _is_workable(record)]
    newest = sorted(free, key=lambda record: time_field(record, "created_at") or _EARLIEST, reverse=True)
    return sorted(newest, key=_priority)


def new_id(prefix: str, digests: Iterable[bytes], taken: Sequence[str]) -> str:
    """The shortest id, of at least three characters, that will probably stay unique; one digest per attempt."""
    first = _id_length(len(taken))
    used = frozenset(taken)
    for length, digest in zip(_attempt_lengths(first), digests, strict=False):
        name = f"{prefix}-{_base36(digest, length)}"
        if name not in used:
            return name
    raise ValueError("too few digests")


def usual_prefix(ids: Iterable[str], fallback: str) -> str:
    """The commonest prefix of the ids of a workspace; without ids, one made from the fallback."""
    counted = Counter(name.rpartition("-")[0] for name in ids if "-" in name)
    if counted:
        return counted.most_common(1)[0][0]
    return re.sub(r"[^a-z0-9]+", "-", fallback.lower()).strip("-") or "bd"


def _is_workable(record: IssueRecord) -> bool:
    switched_off = record.get("pinned") or record.get("ephemeral") or record.get("is_template")
    return (
        string_field(record, "status") == "open"
        and not switched_off
        and string_field(record, "issue_type") not in _NON_WORK_TYPES
    )


def _priority(record: IssueRecord) -> int:
    value = record.get("priority", 2)
    return value if isinstance(value, int) else _LEAST_URGENT


def _blocked_ids(known: Mapping[str, IssueRecord], now: datetime) -> set[str]:
    """The ids that are blocked, directly or through a parent."""
    children: dict[str, list[str]] = {}
    blocked: set[str] = set()
    for name, record in known.items():
        if (time_field(record, "defer_until") or _EARLIEST) > now:
            blocked.add(name)
        for kind, target in _edges(record):
            if kind == "parent-child":
                children.setdefault(target, []).append(name)
            elif kind in _BLOCKING_KINDS and _is_unfinished(known, target):
                blocked.add(name)
    waiting = list(blocked)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in blocked]
        blocked.update(new)
        waiting += new
    return blocked


def _edges(record: IssueRecord) -> Iterable[tuple[str, str]]:
    """The kind and target of each dependency; some real files have `parent_child` for `parent-child`."""
    listed = record.get("dependencies")
    for edge in cast("list[Any]", listed) if isinstance(listed, list) else ():
        if isinstance(edge, dict):
            found = cast("dict[str, Any]", edge)
            yield string_field(found, "type").replace("_", "-"), string_field(found, "depends_on_id")


def _is_unfinished(known: Mapping[str, IssueRecord], target: str) -> bool:
    """An external target blocks, because its status is unknown; a target that does not exist does not."""
    if target.startswith("external:"):
        return True
    return target in known and string_field(known[target], "status") not in _DONE_STATUSES


def _id_length(count: int) -> int:
    """Long enough that a collision among `count` ids has a probability below a quarter (the birthday bound)."""
    length = 3
    while length < MAX_ID_LENGTH and count * count / (2 * 36**length) > 0.2877:  # -ln(3/4)
        length += 1
    return length


def _attempt_lengths(first: int) -> Iterable[int]:
    """Ten attempts for each length, then the longest for ever."""
    for length in range(first, MAX_ID_LENGTH):
        yield from [length] * 10
    while True:
        yield MAX_ID_LENGTH


def _base36(digest: bytes, length: int) -> str:
    number = int.from_bytes(digest, "big")
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(digits)
