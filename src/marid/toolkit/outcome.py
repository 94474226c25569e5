"""What a tool's body may return, and what a call comes to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

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


MAX_OUTPUT_BYTES = 4_000_000
# For what a wire puts around a result.
_MARGIN = 2_000


class ResultLimit(Protocol):
    """The most bytes that the caller takes. A tool with a parameter of this type keeps to it and is not clipped."""

    @property
    def max_bytes(self) -> int:
        """The limit of one result."""
        ...


class FixedResultLimit(NamedTuple):
    """The port ResultLimit of a caller whose limit is always the same."""

    max_bytes: int


def clip_output(done: ToolOutput, max_bytes: int = MAX_OUTPUT_BYTES) -> ToolOutput:
    """The result, whose text and values fit together in `max_bytes` of JSON."""
    if len(done.text) * 6 + _size_bound(done.values) <= max_bytes - _MARGIN:
        return done
    import json

    room = max(max_bytes - _MARGIN, 0)
    size = len(json.dumps(done.values, default=str))
    fits = size <= room // 2
    values = done.values if fits else {"values_left_out": True}
    room -= size if fits else 0
    if _json_size(done.text) <= room:
        return done if fits else ToolOutput(text=done.text, values=values)
    text = _fitting_prefix(done.text, room)
    note = f"\n[cut: {len(done.text) - len(text):,} of {len(done.text):,} characters are left out; ask for less]"
    return ToolOutput(text=text + note, values={**values, "truncated": True})


def _size_bound(values: Mapping[str, object]) -> int:
    """An upper bound of their size in JSON, without encoding them."""
    size = 0
    for name, value in values.items():
        if not isinstance(value, str | int | float | None):
            return MAX_OUTPUT_BYTES
        size += 6 * (len(name) + len(value)) if isinstance(value, str) else 6 * len(name) + 40
    return size


def _json_size(text: str) -> int:
    """Bytes of the text in JSON, with non-ASCII characters as they are."""
    import json

    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _fitting_prefix(text: str, room: int) -> str:
    """Nearly the longest prefix that fits; each guess uses how much the last one was too long."""
    head = text[:room]
    while head and (size := _json_size(head)) > room:
        head = head[: min(len(head) - 1, len(head) * room // size)]
    return head
