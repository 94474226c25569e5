import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.bd import install
from marid.adapters.beads import BeadsProgram
from marid.adapters.process.programs import ProgramLimits
from marid.core.errors import BadInput, Exhausted, NotFound, Unavailable
from marid.ports.beads import NO_WORKSPACE, Bead, BeadsCommand


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".beads").mkdir(parents=True)
    store(root, *({"id": f"bd-{n}", "title": f"t{n}", "status": "closed" if n % 2 else "open"} for n in range(1, 131)))
    return root


def store(root: Path, *issues: dict[str, Any]) -> None:
    (root / ".beads" / "store.json").write_text(json.dumps({"issues": issues}))


def beads(root: Path, limits: ProgramLimits | None = None) -> BeadsProgram:
    env = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "API_KEY": "canary"}
    program = str(install(root.parent / "bin"))
    return BeadsProgram(
        program=program, root=str(root), env=env, actor="marid", limits=limits or ProgramLimits(timeout=20)
    )


def carried_out(command: BeadsCommand, root: Path) -> str:
    """What the dispatcher would do, without a sandbox."""
    done = subprocess.run(command.argv, cwd=root, capture_output=True, text=True, check=False, env={})
    return command.report(done.returncode, done.stdout, done.stderr)


def calls(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / ".beads" / "calls.jsonl").read_text().splitlines()]


def test_everything_is_listed_though_the_program_would_stop_early(root: Path) -> None:
    assert len(beads(root).list_all().beads) == 130
    assert beads(root).list_all().beads[0] == Bead(id="bd-1", status="closed", title="t1")


def test_what_is_ready_is_listed(root: Path) -> None:
    assert len(beads(root).list_ready().beads) == 65


def test_the_program_gets_a_small_environment_and_its_folder(root: Path) -> None:
    beads(root).list_all()
    (call,) = calls(root)
    assert call["args"] == ["list", "--all", "--limit", "0", "--json"]
    assert call["cwd"] == str(root)
    assert call["env"]["BEADS_DIR"] == f"{root}/.beads"
    assert call["env"]["BEADS_ACTOR"] == "marid"
    assert "API_KEY" not in call["env"]


def test_an_issue_is_created_by_a_command_that_is_only_planned(root: Path) -> None:
    command = beads(root).create("--force; rm -rf /", "why\n'how'")
    assert not (root / ".beads" / "calls.jsonl").exists()
    assert "'--title=--force; rm -rf /'" in command.shown
    assert carried_out(command, root) == "Created bead bd-131"
    assert beads(root).list_all().beads[-1].title == "--force; rm -rf /"


def test_a_status_is_changed(root: Path) -> None:
    assert carried_out(beads(root).update("bd-2", "in_progress"), root) == "Updated bead bd-2 to in_progress"
    assert beads(root).list_all().beads[1].status == "in_progress"


def test_closing_is_a_command_of_its_own(root: Path) -> None:
    command = beads(root).update("bd-2", "closed")
    assert "close" in command.argv
    assert carried_out(command, root) == "Updated bead bd-2 to closed"


def test_an_unknown_id_is_not_found_once_the_program_ran(root: Path) -> None:
    with pytest.raises(NotFound, match="bd-999 not found"):
        carried_out(beads(root).update("bd-999", "open"), root)


def test_an_unknown_status_is_told_by_the_program(root: Path) -> None:
    with pytest.raises(Unavailable, match="invalid status: odd"):
        carried_out(beads(root).update("bd-2", "odd"), root)


@pytest.mark.parametrize(("name", "status"), [("", "open"), ("--all", "open"), ("bd-1", "--x"), ("bd-1", "")])
def test_what_the_program_could_take_for_something_else_is_not_given_to_it(root: Path, name: str, status: str) -> None:
    with pytest.raises(BadInput):
        beads(root).update(name, status)


def test_no_database_is_no_workspace(root: Path) -> None:
    (root / ".beads" / "store.json").unlink()
    with pytest.raises(NotFound) as caught:
        beads(root).list_all()
    assert str(caught.value) == NO_WORKSPACE


def test_an_answer_that_is_no_json_is_an_error(root: Path) -> None:
    (root / ".beads" / "break").touch()
    with pytest.raises(Unavailable, match="did not print a list of issues"):
        beads(root).list_all()


def test_an_endless_answer_is_stopped(root: Path) -> None:
    with pytest.raises(Exhausted):
        beads(root, ProgramLimits(max_output=100)).list_all()


ANSWERS = {
    "array": '[{"id": "bd-7"}]',
    "object": '{"schema_version": 1, "id": "bd-7"}',
    "envelope": '{"schema_version": 1, "data": {"id": "bd-7"}}',
    "envelope with array": '{"schema_version": 1, "data": [{"id": "bd-7"}]}',
    "noise": 'Note: [hooks] are old\n{not json\n{\n "id": "bd-7"\n}\nbye\n',
}


@pytest.mark.parametrize("out", ANSWERS.values(), ids=ANSWERS)
def test_every_form_of_answer_is_understood(root: Path, out: str) -> None:
    assert beads(root).create("x", "y").report(0, out, "") == "Created bead bd-7"


@pytest.mark.parametrize("out", ["", "null", "[1]", '{"data": 5}', "[[", '[{"title": "x"}]', "[" * 100_000])
def test_other_answers_are_errors(root: Path, out: str) -> None:
    with pytest.raises(Unavailable):
        beads(root).create("x", "y").report(0, out, "")


def test_an_empty_array_names_nothing(root: Path) -> None:
    assert beads(root).create("x", "y").report(0, "[]", "") == "Created bead "


@pytest.mark.parametrize(
    ("err", "words"),
    [
        ("", "exit status 3"),
        ("plain words\nmore", "plain words"),
        ('warn\n{"error": "bad \\u001b[31m thing"}', "bad \\\\x1b\\[31m thing"),
        ('{"error": 5}', "error"),
        ("x" * 5000, "x{300}$"),
    ],
)
def test_a_failure_is_told_in_few_words(root: Path, err: str, words: str) -> None:
    with pytest.raises(Unavailable, match=words):
        beads(root).create("x", "y").report(3, "", err)
