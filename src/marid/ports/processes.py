"""Commands of the user's machine: how one is run, what it leaves, and who may say what went wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

OnOutput: TypeAlias = Callable[[str, str], None]
"""Told ("out" or "err", text) as a command prints, by the thread that runs it."""


@dataclass(frozen=True, kw_only=True)
class ProcessCommand:
    """A program to run, without input. `roots` are all that it may write; `cwd` is absolute and beneath one of them."""

    argv: tuple[str, ...]
    cwd: str
    roots: tuple[str, ...]
    seconds: float = 60.0
    network: bool = False
    unconfined: bool = False
    """Whether it may run where nothing confines it: somebody knew that and said yes."""


@dataclass(frozen=True, kw_only=True)
class ProcessResult:
    """What a command left. A negative status is the signal that ended it; `cut` is how many bytes were left out."""

    status: int
    out: str
    err: str
    seconds: float
    timed_out: bool = False
    omitted_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class SandboxState:
    """Whether commands are confined, and if not, why, in words for a person."""

    confined: bool
    reason: str = ""


class ProcessRunner(Protocol):
    """Runs commands; all that a command started is gone when its call returns."""

    def state(self) -> SandboxState:
        """Whether commands are confined here: found out by trying, on the first call, then remembered."""
        ...

    def find(self, *names: str) -> str | None:
        """The absolute path of the first of these programs that is on the PATH of commands."""
        ...

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        """Run to the end, to the time limit, or until `stopped`, asked many times a second, says so.

        A command that fails is a result like any other.

        Raises:
            Unavailable: it cannot be started.
            Refused: it could not be confined, and was not allowed to run without that.
        """
        ...


class FailureAnalyst(Protocol):
    """Somebody who may say why a command failed: a model, as a rule."""

    def analyse(self, command: str, complaint: str) -> str:
        """What went wrong, from the command and what it complained, secrets masked; "" for nothing to say.

        Raises:
            MaridError: no answer; the call that asked goes on without.
        """
        ...
