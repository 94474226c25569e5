"""Beads in memory."""

from dataclasses import dataclass, field

from marid.core.errors import NotFound
from marid.ports.beads import Bead, Draft, Listing, Rewrite
from marid.text import beads


@dataclass(kw_only=True)
class FakeBeads:
    """The port Beads over a list; plans are rewrites of a file that nobody reads."""

    known: list[Bead] = field(default_factory=list[Bead])
    remark: str = ""

    def listed(self) -> Listing:
        return Listing(beads=tuple(self.known), remark=self.remark)

    def ready(self) -> Listing:
        return Listing(beads=tuple(bead for bead in self.known if bead.status == "open"), remark=self.remark)

    def create(self, title: str, description: str) -> Draft:
        beads.checked_description(description)
        return self._draft(f"Created bead of {beads.checked_title(title)}")

    def update(self, bead_id: str, status: str) -> Draft:
        if beads.checked_id(bead_id) not in [bead.id for bead in self.known]:
            raise NotFound(f"there is no bead '{bead_id}'")
        return self._draft(f"Updated bead {bead_id} to {beads.checked_status(status)}")

    def _draft(self, text: str) -> Draft:
        return Rewrite(name=".beads/issues.jsonl", before=None, after=text.encode(), text=text)
