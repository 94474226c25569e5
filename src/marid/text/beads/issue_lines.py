"""Read and change a Beads issue file: one JSON object per line."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, cast

from marid.core.errors import BadInput, NotFound, Unavailable
from marid.ports.beads import Bead
from marid.text.display import quote_for_message

IssueRecord: TypeAlias = dict[str, Any]

STATUSES = ("open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked")
DELETED_STATUS = "tombstone"
MAX_TITLE_LENGTH = 500
MAX_DESCRIPTION_BYTES = 100_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_STATUS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,49}")


@dataclass(frozen=True, kw_only=True)
class IssueLine:
    """One issue and its line number, from 0."""

    number: int
    record: IssueRecord

    @property
    def id(self) -> str:
        return string_field(self.record, "id")


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
    found: list[IssueLine] = []
    for number, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        record = _parse_record(line, number)
        if record.get("_type", "issue") == "issue":
            found.append(IssueLine(number=number, record=record))
    return found


def to_bead(record: IssueRecord) -> Bead:
    """The issue for a list."""
    return Bead(
        id=string_field(record, "id"), status=string_field(record, "status"), title=string_field(record, "title")
    )


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
    found = [
        line
        for line in parse_issues(data)
        if line.id == bead_id and string_field(line.record, "status") != DELETED_STATUS
    ]
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
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise Unavailable(f"line {number + 1} of the issues file is not a JSON object: is a merge unfinished?")
    return cast("IssueRecord", record)
