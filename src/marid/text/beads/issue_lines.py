"""Beads issues in their JSONL form: one JSON object a line. Pure: bytes in, values or bytes out."""

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
    """One issue and the number of its line, from 0."""

    number: int
    record: IssueRecord

    @property
    def id(self) -> str:
        """Its name in the workspace."""
        return string_field(self.record, "id")


def validate_title(title: str) -> str:
    """The title, when Beads takes it. Raises: BadInput."""
    if not 1 <= len(title.strip()) <= MAX_TITLE_LENGTH or not title.isprintable():
        raise BadInput(f"a title is one line of 1 to {MAX_TITLE_LENGTH} characters")
    return title.strip()


def validate_description(text: str) -> str:
    """The description, when it can be stored and given to a program. Raises: BadInput."""
    too_long = len(text.encode("utf-8", "replace")) > MAX_DESCRIPTION_BYTES
    if too_long or "\0" in text or re.search("[\ud800-\udfff]", text):
        raise BadInput(f"a description is text of at most {MAX_DESCRIPTION_BYTES:,} bytes")
    return text


def validate_id(bead_id: str) -> str:
    """The id, when it can be one: never empty, which would mean the last issue touched, and never an option."""
    if not _ID.fullmatch(bead_id):
        raise BadInput(f"not the id of a bead: {quote_for_message(bead_id)}")
    return bead_id


def validate_status(status: str, known: Sequence[str] = ()) -> str:
    """The status, when it has the form of one, and is among the known ones if there are any. Raises: BadInput."""
    if not _STATUS.fullmatch(status) or (known and status not in known):
        raise BadInput(f"no such status: {quote_for_message(status)}; known are {', '.join(known or STATUSES)}")
    return status


def parse_issues(data: bytes) -> list[IssueLine]:
    """The issues of a file, deleted ones too. Raises: Unavailable that names a line which is none."""
    found: list[IssueLine] = []
    for number, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        record = _parse_record(line, number)
        if record.get("_type", "issue") == "issue":
            found.append(IssueLine(number=number, record=record))
    return found


def to_bead(record: IssueRecord) -> Bead:
    """The issue as it is listed."""
    return Bead(
        id=string_field(record, "id"), status=string_field(record, "status"), title=string_field(record, "title")
    )


def string_field(record: Mapping[str, Any], key: str) -> str:
    """The value, when it is a string; else empty."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def time_field(record: Mapping[str, Any], key: str) -> datetime | None:
    """The time that a record holds; without a zone it is taken for UTC."""
    try:
        found = datetime.fromisoformat(string_field(record, key))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def format_time(time: datetime) -> str:
    """The time as Beads writes it."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def with_status(data: bytes, bead_id: str, status: str, now: datetime) -> bytes:
    """The file with one issue in another status: one line is new, all others keep their bytes.

    Raises: NotFound for an id that is not there, BadInput for one that is there twice.
    """
    lines = data.split(b"\n")
    found = [
        line
        for line in parse_issues(data)
        if line.id == bead_id and string_field(line.record, "status") != DELETED_STATUS
    ]
    if not found:
        raise NotFound(f"there is no bead {quote_for_message(bead_id)}; bd_list names them all")
    if len(found) > 1:
        raise BadInput(f"the bead {quote_for_message(bead_id)} stands in the file {len(found)} times: solve that first")
    number = found[0].number
    ending = b"\r" if lines[number].endswith(b"\r") else b""
    lines[number] = dump_record(_set_status(found[0].record, status, now)) + ending
    return b"\n".join(lines)


def _set_status(record: IssueRecord, status: str, now: datetime) -> IssueRecord:
    """Only what is closed has a time of closing; the time of change moves on even where clocks differ."""
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
    """The file with one more issue at its end."""
    return data + (b"\n" if data and not data.endswith(b"\n") else b"") + dump_record(record) + b"\n"


def dump_record(record: IssueRecord) -> bytes:
    """The record as one line, without its end. Raises: BadInput for a number that JSON cannot hold."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as cause:
        raise BadInput("the bead holds a number that cannot be written") from cause
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a pair, which only an escape can hold
        return json.dumps(record, separators=(",", ":")).encode()


def _parse_record(line: bytes, number: int) -> IssueRecord:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise Unavailable(f"line {number + 1} of the issues file is no JSON object: is a merge unfinished?")
    return cast("IssueRecord", record)
