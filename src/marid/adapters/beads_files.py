"""Beads by its JSONL file, where there is no `bd`: complete as long as no database stands behind the file."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from marid.core.errors import NotFound, Refused, Unavailable
from marid.ports.beads import Listing, Rewrite
from marid.text import bead_order, beads
from marid.workspace.guard import Place

ISSUES = ".beads/issues.jsonl"
CONFIG = ".beads/config.yaml"
_PREFIX = re.compile(r"^issue-prefix:[ \t]*[\"']?([A-Za-z0-9][A-Za-z0-9_.-]{0,60})[\"']?[ \t]*(?:#.*)?$", re.M)
_CUSTOM = re.compile(r"^status\.custom:[ \t]*[\"']?([A-Za-z][\w, :-]{0,500})[\"']?[ \t]*(?:#.*)?$", re.M | re.A)


@dataclass(frozen=True, kw_only=True)
class BeadsFile:
    """The port Beads at `root`. `behind` names the database that the file is a copy of; empty if there is none."""

    root: Place
    now: datetime
    actor: str
    behind: str = ""

    def listed(self) -> Listing:
        """As in the port."""
        return self._listing(self._alive(self._data() or b""))

    def ready(self) -> Listing:
        """As in the port."""
        return self._listing(bead_order.ready(self._alive(self._data() or b""), self.now))

    def create(self, title: str, description: str) -> Rewrite:
        """As in the port."""
        wanted, words = beads.checked_title(title), beads.checked_description(description)
        self._check_writable()
        before = self._data()
        known = [line.id for line in beads.issues(before or b"")]
        prefix = self._configured(_PREFIX) or bead_order.usual_prefix(known, self.root.tree.path.rpartition("/")[2])
        name = bead_order.new_id(prefix, self._digests(wanted, words), known)
        stamp = beads.stamp(self.now)
        record: beads.Record = {"id": name, "title": wanted, "description": words, "status": "open", "priority": 2}
        record |= {"issue_type": "task", "created_at": stamp, "created_by": self.actor, "updated_at": stamp}
        after = beads.added(before or b"", record)
        return Rewrite(name=ISSUES, before=before, after=after, text=f"Created bead {name}")

    def update(self, bead_id: str, status: str) -> Rewrite:
        """As in the port."""
        name = beads.checked_id(bead_id)
        self._check_writable()
        before = self._data()
        if before is None:
            raise NotFound(f"there is no bead '{name}': the workspace has no issues yet")
        after = beads.moved(before, name, beads.checked_status(status, self._statuses(before)), self.now)
        return Rewrite(name=ISSUES, before=before, after=after, text=f"Updated bead {name} to {status}")

    def _data(self) -> bytes | None:
        try:
            return self.root.below(ISSUES).read()
        except NotFound as cause:
            if self.behind:
                raise Unavailable(f"only `bd` can read {self.behind}, and it is not installed") from cause
            return None

    def _alive(self, data: bytes) -> list[beads.Record]:
        records = (line.record for line in beads.issues(data))
        return [record for record in records if beads.word(record, "status") != beads.DELETED]

    def _listing(self, records: list[beads.Record]) -> Listing:
        remark = f"(from {ISSUES}, which may be behind {self.behind}; `bd` is not installed)" if self.behind else ""
        return Listing(beads=tuple(map(beads.bead, records)), remark=remark)

    def _check_writable(self) -> None:
        if self.behind:
            raise Refused(
                f"{ISSUES} is only a copy of {self.behind}, so a change to it would be lost: `bd` (or `br`) is needed"
            )

    def _statuses(self, data: bytes) -> tuple[str, ...]:
        own = (part.partition(":")[0].strip() for part in self._configured(_CUSTOM).split(","))
        used = (beads.word(line.record, "status") for line in beads.issues(data))
        return tuple(name for name in dict.fromkeys((*beads.STATUSES, *own, *used)) if name and name != beads.DELETED)

    def _configured(self, pattern: re.Pattern[str]) -> str:
        try:
            text = self.root.below(CONFIG).read(1 << 16).decode("utf-8", "replace")
        except NotFound:
            return ""
        found = pattern.search(text)
        return found[1] if found else ""

    def _digests(self, title: str, description: str) -> Iterator[bytes]:
        nonce = 0
        while True:
            text = f"{title}|{description}|{self.actor}|{self.now.timestamp():.6f}|{nonce}"
            yield hashlib.sha256(text.encode()).digest()
            nonce += 1
