"""Beads in memory."""

from dataclasses import dataclass, field

from marid.core.errors import NotFound
from marid.ports.beads import Bead, BeadListing, BeadsPlan, BeadsRewrite
from marid.text.beads import issue_lines


@dataclass(kw_only=True)
class FakeBeads:
    """The port BeadsWorkspace over a list. Plans rewrite a file but do not change the list."""

    known: list[Bead] = field(default_factory=list[Bead])
    remark: str = ""

    def list_all(self) -> BeadListing:
        return BeadListing(beads=tuple(self.known), remark=self.remark)

    def list_ready(self) -> BeadListing:
        return BeadListing(beads=tuple(bead for bead in self.known if bead.status == "open"), remark=self.remark)

    def create(self, title: str, description: str) -> BeadsPlan:
        issue_lines.validate_description(description)
        return self._draft(f"Created bead of {issue_lines.validate_title(title)}")

    def update(self, bead_id: str, status: str) -> BeadsPlan:
        if issue_lines.validate_id(bead_id) not in [bead.id for bead in self.known]:
            raise NotFound(f"there is no bead '{bead_id}'")
        return self._draft(f"Updated bead {bead_id} to {issue_lines.validate_status(status)}")

    def _draft(self, text: str) -> BeadsPlan:
        return BeadsRewrite(name=".beads/issues.jsonl", before=None, after=text.encode(), text=text)
