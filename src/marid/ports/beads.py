"""Port to the issues of a Beads workspace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

NO_WORKSPACE = "no active workspace to run beads tools."


@dataclass(frozen=True, kw_only=True)
class Bead:
    """One issue in a list."""

    id: str
    status: str
    title: str


@dataclass(frozen=True, kw_only=True)
class BeadListing:
    """Issues in the order of the workspace. `remark` is a note about their source."""

    beads: tuple[Bead, ...]
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class BeadsRewrite:
    """A plan to replace the file `name`, relative to the root (`before` None: to create it). `text` is the result."""

    name: str
    before: bytes | None
    after: bytes
    text: str


@dataclass(frozen=True, kw_only=True)
class BeadsCommand:
    """A plan to run a command at the root. `report` makes the result from its exit status, stdout and stderr, and
    raises NotFound for an unknown issue and Unavailable for any other failure.
    """

    argv: tuple[str, ...]
    shown: str
    report: Callable[[int, str, str], str]


BeadsPlan: TypeAlias = BeadsRewrite | BeadsCommand


class BeadsWorkspace(Protocol):
    """One workspace at a fixed root. Changes are only planned here.

    Every method raises NotFound with NO_WORKSPACE if there is no workspace, Unavailable if it cannot be read, and
    Exhausted if it is too large or takes too long.
    """

    def list_all(self) -> BeadListing:
        """All issues, also closed ones, without deleted ones."""
        ...

    def list_ready(self) -> BeadListing:
        """The open issues that nothing blocks, the most urgent first."""
        ...

    def create(self, title: str, description: str) -> BeadsPlan:
        """Plan a new open issue. Raises: BadInput for a title that Beads rejects; Refused as `update`."""
        ...

    def update(self, bead_id: str, status: str) -> BeadsPlan:
        """Plan a change of status.

        Raises: BadInput for an unknown status; NotFound for an unknown issue; Refused if the file is only a copy of a
        database, so that the change would be lost.
        """
        ...
