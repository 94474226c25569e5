import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from marid.adapters.sandbox.probe import probe_sandbox
from marid.core.errors import Unavailable
from marid.ports.processes import ProcessCommand, ProcessResult

Run = Callable[[ProcessCommand], ProcessResult]


@pytest.fixture
def outside(tmp_path: Path) -> Run:
    """No sandbox at all, except that /etc is not the real one: somebody may run this as root."""

    def run(command: ProcessCommand) -> ProcessResult:
        argv = [part.replace("/etc/", f"{tmp_path}/") for part in command.argv]
        done = subprocess.run(argv, cwd=command.cwd, capture_output=True, text=True, check=False)
        return ProcessResult(status=done.returncode, out=done.stdout, err=done.stderr, seconds=0.0)

    return run


def test_without_walls_the_holes_are_named(outside: Run, tmp_path: Path) -> None:
    state = probe_sandbox(outside, str(tmp_path / "state"))
    assert not state.confined
    for hole in ("can write outside of its roots", "can see files", "can write in .git", "can make what is protected"):
        assert hole in state.reason


def test_nothing_is_left_of_the_tries(outside: Run, tmp_path: Path) -> None:
    probe_sandbox(outside, str(tmp_path / "state"))
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize(("out", "confined"), [("tried\n", True), ("", False), ("has a network\ntried\n", False)])
def test_only_a_sandbox_that_answers_and_has_no_holes_confines(tmp_path: Path, out: str, *, confined: bool) -> None:
    state = probe_sandbox(lambda _: ProcessResult(status=0, out=out, err="", seconds=0.0), str(tmp_path))
    assert state.confined is confined
    assert confined == (state.reason == "")


def test_a_sandbox_that_cannot_be_set_up_confines_nothing(tmp_path: Path) -> None:
    def broken(command: ProcessCommand) -> ProcessResult:
        raise Unavailable("no user namespaces")

    assert probe_sandbox(broken, str(tmp_path)).reason == "the sandbox does not work here: no user namespaces"


def test_without_a_folder_of_ours_nothing_can_be_tried(outside: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    state = probe_sandbox(outside, str(tmp_path / "file" / "state"))
    assert state.reason == "the sandbox could not be tested: Not a directory"
