"""The issues of a Beads workspace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

NO_WORKSPACE = "no active workspace to run beads tools."


@dataclass(frozen=True, kw_only=True)
class Bead:
    """One issue, as it is listed."""

    id: str
    status: str
    title: str


@dataclass(frozen=True, kw_only=True)
class BeadListing:
    """Issues in the order of the workspace. `remark` says what a reader should know about where they come from."""

    beads: tuple[Bead, ...]
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class BeadsRewrite:
    """A plan: the file `name`, relative to the root, anew (`before` None: it is new). `text` is the result then."""

    name: str
    before: bytes | None
    after: bytes
    text: str


@dataclass(frozen=True, kw_only=True)
class BeadsCommand:
    """A plan: a command to run at the root. `report` makes the result of its exit status, output and complaints.

    It raises NotFound for an issue that is not there, and Unavailable when the command failed otherwise.
    """

    argv: tuple[str, ...]
    shown: str
    report: Callable[[int, str, str], str]


BeadsPlan: TypeAlias = BeadsRewrite | BeadsCommand


class BeadsWorkspace(Protocol):
    """One workspace, at the root that it was bound to. Changes are only planned here.

    Every method raises NotFound with the words of NO_WORKSPACE when there is no workspace, Unavailable when it cannot
    be read, and Exhausted when it is too large or takes too long.
    """

    def list_all(self) -> BeadListing:
        """All issues, closed ones too, deleted ones not."""
        ...

    def list_ready(self) -> BeadListing:
        """The open issues that nothing holds back, the most urgent first."""
        ...

    def create(self, title: str, description: str) -> BeadsPlan:
        """Plan a new open issue. Raises: BadInput for a title that Beads does not take, Refused as `update`."""
        ...

    def update(self, bead_id: str, status: str) -> BeadsPlan:
        """Plan a change of status.

        Raises: BadInput for a status that there is not, NotFound for an issue that is not there, Refused where the
        file is only a copy of a database, so that what is written to it would be lost.
        """
        ...
