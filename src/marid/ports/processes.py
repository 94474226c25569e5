"""Ports to commands on the user's machine, and to the analysis of their failures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

OnOutput: TypeAlias = Callable[[str, str], None]
"""Called with ("out" or "err", text) as a command prints, in the thread that runs it."""


@dataclass(frozen=True, kw_only=True)
class ProcessCommand:
    """A program to run without input. It may write below `roots` only; `cwd` is absolute and below one of them."""

    argv: tuple[str, ...]
    cwd: str
    roots: tuple[str, ...]
    seconds: float = 60.0
    network: bool = False
    unconfined: bool = False
    """Whether it may run without a sandbox, since a person agreed to that."""


@dataclass(frozen=True, kw_only=True)
class ProcessResult:
    """The result of a command. A negative status is the signal that ended it.

    `notes` are for the person and the model: what the command created and may not keep.
    """

    status: int
    out: str
    err: str
    seconds: float
    timed_out: bool = False
    omitted_bytes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SandboxState:
    """Whether commands run in a sandbox, and if not, why."""

    confined: bool
    reason: str = ""


class ProcessRunner(Protocol):
    """Runs commands. When `run` returns, all processes of the command are gone."""

    def state(self) -> SandboxState:
        """Whether commands run in a sandbox. The first call tries it."""
        ...

    def find(self, *names: str) -> str | None:
        """The absolute path of the first of these programs on the PATH of commands."""
        ...

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        """Run to the end, to the time limit, or until `stopped()`, which is polled. A command that fails is a result.

        Raises: Unavailable if it cannot be started; Refused if it needs a sandbox and there is none.
        """
        ...


class FailureAnalyst(Protocol):
    """Explains why a command failed, usually by asking a model."""

    def analyse(self, command: str, complaint: str) -> str:
        """The explanation from the command and its stderr, with secrets masked; "" for none.

        Raises: MaridError, after which the call goes on without an explanation.
        """
        ...
