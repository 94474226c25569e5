"""What a tool's body may return, and what a call comes to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from marid.ports.processes import Ran
from marid.workspace.guard import Place


def _nothing() -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Done:
    """The result as text, and in `values` what a program would rather have as values (JSON ones)."""

    text: str
    values: Mapping[str, object] = field(default_factory=_nothing)
    ok: bool = field(default=True, init=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class Change:
    """One file's new bytes. `before` is what the plan was made from; None means: there must be no such file."""

    place: Place
    before: bytes | None
    after: bytes


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A plan: nothing is written until the dispatcher commits it. `text` is the result once that is done."""

    changes: tuple[Change, ...]
    text: str
    values: Mapping[str, object] = field(default_factory=_nothing)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A plan: the command that the dispatcher will start, in the sandbox. `shown` is the command as a person reads it.

    `finish` makes the result; without it, it is the output of both streams with the exit code.
    """

    argv: tuple[str, ...]
    shown: str
    cwd: Place
    seconds: float = 60.0
    network: bool = False
    finish: Callable[[Ran], Done] | None = None


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Why there is no result: the family's code, and words for whoever called."""

    code: str
    message: str
    ok: bool = field(default=False, init=False)

    @property
    def text(self) -> str:
        """As a model reads it."""
        return f"ERROR: {self.message}"

    def __str__(self) -> str:
        return self.text


Plan: TypeAlias = Edit | Run
Result: TypeAlias = Done | Edit | Run
Outcome: TypeAlias = Done | Failed
