"""The real sandbox for tests, or an explicit waiver."""

import os
import sys
from pathlib import Path

import pytest

from marid.adapters.process.shell_runner import ShellRunner
from marid.adapters.sandbox.bubblewrap import Sandbox, find_bubblewrap
from marid.ports.processes import ProcessCommand, ProcessResult
from marid.workspace.quarantine import Quarantine

WAIVER = "MARID_WITHOUT_SANDBOX"


def bubblewrap_or_waiver() -> str:
    """The path of bubblewrap. Without it the test fails, or is skipped if that was waived."""
    program = find_bubblewrap()
    if program is not None:
        return program
    if os.environ.get(WAIVER) == "1":
        pytest.skip(f"there is no bubblewrap, and {WAIVER}=1")
    pytest.fail(f"there is no bubblewrap: install it (scripts/system does), or waive it by {WAIVER}=1")


class SandboxedProject:
    """A project and a home in an empty folder, and commands that run confined to the project.

    With `like`, home and sandbox are those of another one, which spares the self-test.
    """

    def __init__(
        self, place: Path, *, like: "SandboxedProject | None" = None, prefix: str = sys.base_prefix, **environment: str
    ) -> None:
        self.place = place
        self.root = place / "project"
        self.root.mkdir(parents=True, exist_ok=True)
        self.home = place / "user" if like is None else like.home
        self.home.mkdir(exist_ok=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), **environment}
        self.sandbox = Sandbox(bubblewrap_or_waiver(), env=self.env, state=str(self.home / ".marid"), prefix=prefix)
        self.quarantine = Quarantine(str(self.home / ".marid"))
        self.runner = (
            ShellRunner(env=self.env, sandbox=self.sandbox, max_processes=128) if like is None else like.runner
        )

    def __call__(self, script: str, *, seconds: float = 20.0, network: bool = False, cwd: str = "") -> ProcessResult:
        """Run a shell script."""
        return self.runner.run(self.command(script, seconds=seconds, network=network, cwd=cwd))

    def command(self, script: str, *, seconds: float = 20.0, network: bool = False, cwd: str = "") -> ProcessCommand:
        return ProcessCommand(
            argv=("/bin/sh", "-c", script),
            cwd=cwd or str(self.root),
            roots=(str(self.root),),
            seconds=seconds,
            network=network,
        )

    def output(self, script: str) -> str:
        """The output of a script that must succeed."""
        ran = self(script)
        assert ran.status == 0, ran
        return ran.out

    def error_output(self, script: str) -> str:
        """The errors of a script that must fail."""
        ran = self(script)
        assert ran.status != 0, ran
        return ran.err


@pytest.fixture(scope="module")
def tested_sandbox(tmp_path_factory: pytest.TempPathFactory) -> SandboxedProject:
    """A sandbox that has passed its self-test."""
    made = SandboxedProject(tmp_path_factory.mktemp("tested"))
    state = made.runner.state()
    if not state.confined and os.environ.get(WAIVER) == "1":
        pytest.skip(f"{state.reason}, and {WAIVER}=1")
    assert state.confined, state.reason
    return made


@pytest.fixture
def sandbox(tested_sandbox: SandboxedProject, tmp_path: Path) -> SandboxedProject:
    """An empty project in the tested sandbox."""
    return SandboxedProject(tmp_path, like=tested_sandbox)
