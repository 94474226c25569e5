"""Beads issue files, one JSON object per line: read and change them, and find what is ready to work on."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeAlias

from marid.core.errors import BadInput, NotFound, Unavailable
from marid.ports.beads import Bead
from marid.text.display import quote_for_message
from marid.text.json_values import as_objects, is_object, parse_json

IssueRecord: TypeAlias = dict[str, Any]

STATUSES = ("open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked")
DELETED_STATUS = "tombstone"
MAX_TITLE_LENGTH = 500
MAX_DESCRIPTION_BYTES = 100_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_STATUS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,49}")


class IssueLine(NamedTuple):
    """One issue and its line number, from 0."""

    number: int
    record: IssueRecord
    id: str


def validate_title(title: str) -> str:
    """The title, stripped. Raises: BadInput."""
    if not 1 <= len(title.strip()) <= MAX_TITLE_LENGTH or not title.isprintable():
        raise BadInput(f"a title is one line of 1 to {MAX_TITLE_LENGTH} characters")
    return title.strip()


def validate_description(text: str) -> str:
    """The description. Raises: BadInput if it cannot be stored or passed to a program."""
    too_long = len(text.encode("utf-8", "replace")) > MAX_DESCRIPTION_BYTES
    if too_long or "\0" in text or re.search("[\ud800-\udfff]", text):
        raise BadInput(f"a description is text of at most {MAX_DESCRIPTION_BYTES:,} bytes")
    return text


def validate_id(bead_id: str) -> str:
    """The id. Raises: BadInput if it is empty, which would mean the last issue touched, or looks like an option."""
    if not _ID.fullmatch(bead_id):
        raise BadInput(f"not a bead id: {quote_for_message(bead_id)}")
    return bead_id


def validate_status(status: str, known: Sequence[str] = ()) -> str:
    """The status. Raises: BadInput if it is malformed, or not one of `known` if there are any."""
    if not _STATUS.fullmatch(status) or (known and status not in known):
        raise BadInput(f"unknown status {quote_for_message(status)}: use one of {', '.join(known or STATUSES)}")
    return status


def parse_issues(data: bytes) -> list[IssueLine]:
    """The issues of a file, including deleted ones. Raises: Unavailable with the number of a malformed line."""
    records = ((number, _parse_record(line, number)) for number, line in enumerate(data.split(b"\n")) if line.strip())
    return [
        IssueLine(number, record, string_field(record, "id"))
        for number, record in records
        if record.get("_type", "issue") == "issue"
    ]


def to_bead(record: IssueRecord) -> Bead:
    """The issue for a list."""
    return Bead(**{name: string_field(record, name) for name in ("id", "status", "title")})


def string_field(record: Mapping[str, Any], key: str) -> str:
    """The value if it is a string, else an empty one."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def time_field(record: Mapping[str, Any], key: str) -> datetime | None:
    """The time in a field, in UTC if it has no zone; None if it is not a time."""
    try:
        found = datetime.fromisoformat(string_field(record, key))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def format_time(time: datetime) -> str:
    """The time in the format of Beads."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def with_status(data: bytes, bead_id: str, status: str, now: datetime) -> bytes:
    """The file with one issue in another status; all other lines keep their bytes.

    Raises: NotFound for an unknown id, BadInput for one that occurs twice.
    """
    lines = data.split(b"\n")
    same_id = (line for line in parse_issues(data) if line.id == bead_id)
    found = [line for line in same_id if line.record.get("status") != DELETED_STATUS]
    if not found:
        raise NotFound(f"no bead {quote_for_message(bead_id)}; bd_list lists them all")
    if len(found) > 1:
        raise BadInput(f"bead {quote_for_message(bead_id)} is in the file {len(found)} times: fix that first")
    number = found[0].number
    ending = b"\r" if lines[number].endswith(b"\r") else b""
    lines[number] = dump_record(_set_status(found[0].record, status, now)) + ending
    return b"\n".join(lines)


def _set_status(record: IssueRecord, status: str, now: datetime) -> IssueRecord:
    """Only closed issues have `closed_at`; `updated_at` always increases, even if clocks differ."""
    before = time_field(record, "updated_at")
    later = now if before is None else max(now, before + timedelta(microseconds=1))
    changed = {**record, "status": status, "updated_at": format_time(later)}
    if status == "closed":
        changed.setdefault("closed_at", format_time(later))
    else:
        changed.pop("closed_at", None)
        changed.pop("close_reason", None)
    if status == "in_progress":
        changed.setdefault("started_at", format_time(later))
    return changed


def with_issue(data: bytes, record: IssueRecord) -> bytes:
    """The file with an issue appended."""
    return data + (b"\n" if data and not data.endswith(b"\n") else b"") + dump_record(record) + b"\n"


def dump_record(record: IssueRecord) -> bytes:
    """The record as one line, without line ending. Raises: BadInput for a number that JSON cannot represent."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as cause:
        raise BadInput("the bead contains a number that JSON cannot represent") from cause
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can represent
        return json.dumps(record, separators=(",", ":")).encode()


def _parse_record(line: bytes, number: int) -> IssueRecord:
    if not is_object(record := parse_json(line)):
        raise Unavailable(f"line {number + 1} of the issues file is not a JSON object: is a merge unfinished?")
    return record


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
    used = frozenset(taken)
    lengths = range(_id_length(len(taken)), MAX_ID_LENGTH)
    # Ten attempts for each length, then the longest for ever.
    attempts = chain.from_iterable([*(repeat(length, 10) for length in lengths), repeat(MAX_ID_LENGTH)])
    names = (f"{prefix}-{_base36(digest, length)}" for length, digest in zip(attempts, digests, strict=False))
    if (free := next((name for name in names if name not in used), None)) is None:
        raise ValueError("too few digests")
    return free


def usual_prefix(ids: Iterable[str], fallback: str) -> str:
    """The commonest prefix of the ids of a workspace; without ids, one made from the fallback."""
    counted = Counter(name.rpartition("-")[0] for name in ids if "-" in name)
    if counted:
        return counted.most_common(1)[0][0]
    return re.sub(r"[^a-z0-9]+", "-", fallback.lower()).strip("-") or "bd"


def _is_workable(record: IssueRecord) -> bool:
    switched_off = record.get("pinned") or record.get("ephemeral") or record.get("is_template")
    is_work = string_field(record, "issue_type") not in _NON_WORK_TYPES
    return string_field(record, "status") == "open" and not switched_off and is_work


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
    for edge in as_objects(record.get("dependencies")):
        yield string_field(edge, "type").replace("_", "-"), string_field(edge, "depends_on_id")


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


def _base36(digest: bytes, length: int) -> str:
    number = int.from_bytes(digest, "big")
    return "".join(_DIGITS[number // 36**place % 36] for place in range(length))
