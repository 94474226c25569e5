"""What a tool's body may return, and what a call comes to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from marid.ports.processes import ProcessResult
from marid.workspace.guard.api import GuardedPath


@dataclass(frozen=True, kw_only=True)
class ToolOutput:
    """The result as text, and in `values` the same for a program, as JSON values.

    `notices` are for the person who runs the program, not for the caller.
    """

    text: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    notices: tuple[str, ...] = ()
    ok: bool = field(default=True, init=False)

    def __str__(self) -> str:
        return self.text


class PlannedChange(NamedTuple):
    """One file's new bytes. `before` is what the plan was made from; None means: there must be no such file."""

    path: GuardedPath
    before: bytes | None
    after: bytes


@dataclass(frozen=True, kw_only=True)
class EditPlan:
    """A plan: nothing is written until it is committed. `text` is the result once that is done."""

    changes: tuple[PlannedChange, ...]
    text: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])


class CommandPlan(NamedTuple):
    """A plan: the command that will be started in the sandbox; `display` is the command as a person reads it.

    `finish` makes the result; without it, it is the output of both streams with the exit code.
    """

    argv: tuple[str, ...]
    display: str
    cwd: GuardedPath
    timeout: float = 60.0
    network: bool = False
    finish: Callable[[ProcessResult], ToolOutput] | None = None


@dataclass(frozen=True, kw_only=True)
class ToolFailure:
    """Why there is no result: the code of the error family, and a message for the caller."""

    code: str
    message: str
    ok: bool = field(default=False, init=False)

    @property
    def text(self) -> str:
        """As a model reads it."""
        return f"ERROR: {self.message}"

    def __str__(self) -> str:
        return self.text


Plan: TypeAlias = EditPlan | CommandPlan
BodyResult: TypeAlias = ToolOutput | EditPlan | CommandPlan
Outcome: TypeAlias = ToolOutput | ToolFailure
