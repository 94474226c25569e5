"""A runner of commands with prepared results."""

from collections.abc import Callable, Mapping, Sequence

from marid.core.errors import Refused
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState


class FakeProcesses:
    """The port ProcessRunner. `answers` are results by the last argument, `programs` those that `find` knows."""

    def __init__(
        self, answers: Mapping[str, ProcessResult] | None = None, *, programs: Sequence[str] = (), reason: str = ""
    ) -> None:
        self.commands: list[ProcessCommand] = []
        self._answers = dict(answers or {})
        self._programs = frozenset(programs)
        self._state = SandboxState(confined=not reason, reason=reason)

    def state(self) -> SandboxState:
        return self._state

    def find(self, *names: str) -> str | None:
        return next((f"/fake/{name}" for name in names if name in self._programs), None)

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        if not self._state.confined and not command.unconfined:
            raise Refused(f"nothing would confine the command: {self._state.reason}")
        self.commands.append(command)
        if stopped is not None and stopped():
            return ProcessResult(status=-9, out="", err="", seconds=0.0)
        ran = self._answers.get(command.argv[-1], ProcessResult(status=0, out="", err="", seconds=0.0))
        for name, text in (("out", ran.out), ("err", ran.err)):
            if text and on_output is not None:
                on_output(name, text)
        return ran
