"""Beads by its JSONL file, without `bd`: complete unless the file is a copy of a database."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from marid.core.errors import NotFound, Refused, Unavailable
from marid.ports.beads import BeadListing, BeadsRewrite
from marid.text import issue_lines
from marid.workspace.guard.api import GuardedPath

ISSUES = ".beads/issues.jsonl"
CONFIG = ".beads/config.yaml"
_PREFIX = re.compile(r"^issue-prefix:[ \t]*[\"']?([A-Za-z0-9][A-Za-z0-9_.-]{0,60})[\"']?[ \t]*(?:#.*)?$", re.M)
_CUSTOM_STATUSES = re.compile(
    r"^status\.custom:[ \t]*[\"']?([A-Za-z][\w, :-]{0,500})[\"']?[ \t]*(?:#.*)?$", re.M | re.A
)


@dataclass(frozen=True, kw_only=True)
class BeadsFile:
    """The port BeadsWorkspace at `root`. `database` describes the database that the file is a copy of, if any."""

    root: GuardedPath
    now: datetime
    actor: str
    database: str = ""

    def list_all(self) -> BeadListing:
        return self._make_listing(self._live_records(self._read_issues() or b""))

    def list_ready(self) -> BeadListing:
        return self._make_listing(issue_lines.ready_issues(self._live_records(self._read_issues() or b""), self.now))

    def create(self, title: str, description: str) -> BeadsRewrite:
        title, description = issue_lines.validate_title(title), issue_lines.validate_description(description)
        self._check_writable()
        before = self._read_issues()
        known = [line.id for line in issue_lines.parse_issues(before or b"")]
        prefix = self._config_value(_PREFIX) or issue_lines.usual_prefix(known, self.root.root.path.rpartition("/")[2])
        name = issue_lines.new_id(prefix, self._digests(title, description), known)
        stamp = issue_lines.format_time(self.now)
        record: issue_lines.IssueRecord = {"id": name, "title": title, "description": description, "status": "open"}
        record |= {"priority": 2, "issue_type": "task"}
        record |= {"created_at": stamp, "created_by": self.actor, "updated_at": stamp}
        after = issue_lines.with_issue(before or b"", record)
        return BeadsRewrite(name=ISSUES, before=before, after=after, text=f"Created bead {name}")

    def update(self, bead_id: str, status: str) -> BeadsRewrite:
        name = issue_lines.validate_id(bead_id)
        self._check_writable()
        before = self._read_issues()
        if before is None:
            raise NotFound(f"there is no bead '{name}': the workspace has no issues yet")
        status = issue_lines.validate_status(status, self._statuses(before))
        after = issue_lines.with_status(before, name, status, self.now)
        return BeadsRewrite(name=ISSUES, before=before, after=after, text=f"Updated bead {name} to {status}")

    def _read_issues(self) -> bytes | None:
        try:
            return self.root.below(ISSUES).read()
        except NotFound as cause:
            if self.database:
                raise Unavailable(f"only `bd` can read {self.database}, and it is not installed") from cause
            return None

    def _live_records(self, data: bytes) -> list[issue_lines.IssueRecord]:
        deleted = issue_lines.DELETED_STATUS
        records = (line.record for line in issue_lines.parse_issues(data))
        return [record for record in records if issue_lines.string_field(record, "status") != deleted]

    def _make_listing(self, records: list[issue_lines.IssueRecord]) -> BeadListing:
        remark = f"(from {ISSUES}, which may be behind {self.database}; `bd` is not installed)" if self.database else ""
        return BeadListing(beads=tuple(map(issue_lines.to_bead, records)), remark=remark)

    def _check_writable(self) -> None:
        if self.database:
            raise Refused(f"{ISSUES} is a copy of {self.database}, so a change would be lost; install `bd` (or `br`)")

    def _statuses(self, data: bytes) -> tuple[str, ...]:
        own = (part.partition(":")[0].strip() for part in self._config_value(_CUSTOM_STATUSES).split(","))
        used = (issue_lines.string_field(line.record, "status") for line in issue_lines.parse_issues(data))
        known = dict.fromkeys((*issue_lines.STATUSES, *own, *used))
        return tuple(name for name in known if name and name != issue_lines.DELETED_STATUS)

    def _config_value(self, pattern: re.Pattern[str]) -> str:
        try:
            text = self.root.below(CONFIG).read(1 << 16).decode("utf-8", "replace")
        except NotFound:
            return ""
        found = pattern.search(text)
        return found[1] if found else ""

    def _digests(self, title: str, description: str) -> Iterator[bytes]:
        for nonce in count():
            text = f"{title}|{description}|{self.actor}|{self.now.timestamp():.6f}|{nonce}"
            yield hashlib.sha256(text.encode()).digest()
