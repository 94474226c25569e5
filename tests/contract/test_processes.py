"""Every runner of commands keeps the promises of `ports.processes`: confined, unconfined and pretended."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fakes.ports import FakeProcesses
from fakes.sandbox import SandboxedProject
from marid.adapters.process.shell_runner import ShellRunner
from marid.core.errors import Refused
from marid.ports.processes import ProcessCommand, ProcessResult, ProcessRunner

BOTH = "echo out; echo err >&2; exit 3"
ANSWERS = {
    BOTH: ProcessResult(status=3, out="out\n", err="err\n", seconds=0.0),
    "sleep 100": ProcessResult(status=-9, out="", err="", seconds=0.3, timed_out=True),
}


@dataclass(frozen=True)
class Kind:
    processes: ProcessRunner
    root: Path

    def __call__(self, script: str, *, seconds: float = 20.0) -> ProcessCommand:
        root = str(self.root)
        return ProcessCommand(argv=("/bin/sh", "-c", script), cwd=root, roots=(root,), seconds=seconds, unconfined=True)


@pytest.fixture(params=["confined", "unconfined", "fake"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    if request.param == "confined":
        confined = SandboxedProject(tmp_path)
        return Kind(confined.runner, confined.root)
    if request.param == "unconfined":
        return Kind(ShellRunner(env={"PATH": os.defpath}, sandbox=None), tmp_path)
    return Kind(FakeProcesses(ANSWERS, programs=["sh"], reason="it is not real"), tmp_path)


def test_what_a_command_prints_and_its_status_come_back(kind: Kind) -> None:
    ran = kind.processes.run(kind(BOTH))
    assert (ran.status, ran.out, ran.err, ran.timed_out, ran.omitted_bytes) == (3, "out\n", "err\n", False, 0)


def test_output_is_told_as_it_comes(kind: Kind) -> None:
    told: list[tuple[str, str]] = []
    kind.processes.run(kind(BOTH), lambda name, text: told.append((name, text)))
    assert sorted(told) == [("err", "err\n"), ("out", "out\n")]


def test_a_command_that_takes_too_long_is_ended(kind: Kind) -> None:
    ran = kind.processes.run(kind("sleep 100", seconds=0.3))
    assert ran.timed_out
    assert ran.status == -9
    assert 0.3 <= ran.seconds < 10


def test_a_command_that_is_stopped_is_ended(kind: Kind) -> None:
    ran = kind.processes.run(kind("sleep 101"), stopped=lambda: True)
    assert (ran.status, ran.timed_out) == (-9, False)


def test_the_state_says_why_there_is_no_confinement(kind: Kind) -> None:
    state = kind.processes.state()
    assert state.confined == (state.reason == "")
    assert kind.processes.state() == state


def test_nothing_runs_unconfined_unless_that_was_said(kind: Kind) -> None:
    command = replace(kind("touch made"), unconfined=False)
    if kind.processes.state().confined:
        assert kind.processes.run(command).status == 0
    else:
        with pytest.raises(Refused, match="nothing would confine"):
            kind.processes.run(command)
        assert not (kind.root / "made").exists()


def test_programs_are_found_in_the_order_given(kind: Kind) -> None:
    find: Callable[..., str | None] = kind.processes.find
    assert (find("no-such-program", "sh") or "").endswith("/sh")
    assert find("no-such-program") is None
