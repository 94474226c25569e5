"""What commands created under protected names: list it, move it back, delete it."""

from typing import TYPE_CHECKING

from marid.workspace.quarantine import Quarantine, QuarantinedItem

if TYPE_CHECKING:
    from marid.app.app import RequestScope


def quarantined_items(scope: "RequestScope") -> tuple[list[QuarantinedItem], list[str]]:
    """What is in quarantine, the oldest first, and notes on what killed commands had left until now."""
    quarantine = Quarantine(scope.home)
    notes = quarantine.recover()
    return quarantine.items(), notes


def restore_item(scope: "RequestScope", id: str) -> QuarantinedItem:
    """Move an item back to its place. Raises: NotFound, Refused if the place is taken, Unavailable."""
    return Quarantine(scope.home).restore(id)


def delete_item(scope: "RequestScope", id: str) -> QuarantinedItem:
    """Delete an item for good. Raises: NotFound, Unavailable."""
    return Quarantine(scope.home).delete(id)
