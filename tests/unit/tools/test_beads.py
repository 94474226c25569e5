import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.bd import install
from fakes.ports import FakeBeads
from fakes.tool_caller import ToolCaller
from marid.adapters.beads import ProjectBeads
from marid.core.errors import Exhausted, NotFound
from marid.ports.beads import Bead, BeadsWorkspace
from marid.toolkit.handles import PathResolver
from marid.toolkit.outcome import CommandPlan, ProcessResult
from marid.tools.beads import MAX_ROWS, bd_create, bd_list, bd_ready, bd_update
from marid.workspace.guard.api import PathScope


def hands(root: Path, env: dict[str, str] | None = None) -> ToolCaller:
    territory = PathScope([str(root)])
    return ToolCaller(root, {BeadsWorkspace: ProjectBeads(territory, env or {"PATH": ""}), PathResolver: territory})


def faked(root: Path, beads: FakeBeads) -> ToolCaller:
    return ToolCaller(root, {BeadsWorkspace: beads, PathResolver: PathScope([str(root)])})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".beads").mkdir(parents=True)
    issues: list[dict[str, Any]] = [
        {"id": "a-1", "title": "One", "status": "open"},
        {"id": "a-2", "title": "Two", "status": "closed"},
    ]
    text = "".join(json.dumps(issue) + "\n" for issue in issues)
    (tmp_path / "project" / ".beads" / "issues.jsonl").write_text(text)
    return tmp_path / "project"


def test_a_row_is_as_the_document_says(root: Path) -> None:
    outcome = hands(root).output(bd_list)
    assert outcome.text == "ID: a-1, Status: open, Title: One\nID: a-2, Status: closed, Title: Two"
    assert outcome.values == {"count": 2, "truncated": False}
    assert hands(root).text(bd_ready) == "ID: a-1, Status: open, Title: One"


@pytest.mark.parametrize(
    ("spec", "args"),
    [
        (bd_list, {}),
        (bd_ready, {}),
        (bd_create, {"title": "x", "description": "y"}),
        (bd_update, {"bead_id": "a-1", "status": "open"}),
    ],
)
def test_without_a_workspace_a_model_reads_the_documents_words(tmp_path: Path, spec: Any, args: dict[str, str]) -> None:
    failure = hands(tmp_path).failure(spec, **args)
    assert failure.text == "ERROR: no active workspace to run beads tools."


def test_a_bead_is_created_and_moved(root: Path) -> None:
    working = hands(root)
    assert working.text(bd_create, title="Two").startswith("Created bead ")
    text = working.text(bd_create, title="Three", description="because")
    name = text.removeprefix("Created bead ")
    assert working.text(bd_update, bead_id=name, status="in_progress") == f"Updated bead {name} to in_progress"
    assert f"ID: {name}, Status: in_progress, Title: Three" in working.text(bd_list)


def test_a_title_cannot_forge_a_row(tmp_path: Path) -> None:
    beads = FakeBeads(known=[Bead(id="a-1\n", status="open", title="x\nID: a-2, Status: open, Title: \x1b[31mfake")])
    assert faked(tmp_path, beads).text(bd_list) == (
        "ID: a-1\\n, Status: open, Title: x\\nID: a-2, Status: open, Title: \\x1b[31mfake"
    )


def test_nothing_is_said_in_words(tmp_path: Path) -> None:
    assert faked(tmp_path, FakeBeads()).text(bd_list) == "The workspace has no beads."
    assert faked(tmp_path, FakeBeads(remark="(old)")).text(bd_ready) == "No bead is ready to be worked on.\n(old)"


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    beads = FakeBeads(known=[Bead(id=f"a-{n}", status="open", title="t") for n in range(MAX_ROWS + 5)])
    outcome = faked(tmp_path, beads).output(bd_list)
    assert outcome.text.count("\n") == MAX_ROWS
    assert outcome.text.endswith("(5 more are not shown; bd_ready lists fewer)")
    assert outcome.values["truncated"] is True


@pytest.mark.parametrize("args", [{"bead_id": "", "status": "open"}, {"bead_id": "a-1", "status": "nope"}])
def test_bad_input_is_told(root: Path, args: dict[str, str]) -> None:
    assert hands(root).failure(bd_update, **args).code == "bad_input"


def test_with_the_program_a_change_is_a_command(root: Path, tmp_path: Path) -> None:
    install(tmp_path / "bin")
    (root / ".beads" / "config.yaml").touch()
    (root / ".beads" / "store.json").write_text('{"issues": []}')
    working = hands(root, {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"})
    plan = working.plan(bd_create, title="-x", description="y")
    assert isinstance(plan, CommandPlan)
    assert plan.cwd.name == "."
    assert plan.network is False
    done = subprocess.run(plan.argv, cwd=root, capture_output=True, text=True, check=False, env={})
    assert plan.finish is not None
    ran = ProcessResult(status=done.returncode, out=done.stdout, err=done.stderr, seconds=0.1)
    assert plan.finish(ran).text == "Created bead bd-1"
    with pytest.raises(Exhausted, match="30 s"):
        plan.finish(ProcessResult(status=-9, out="", err="", seconds=30, timed_out=True))
    with pytest.raises(NotFound):
        plan.finish(ProcessResult(status=1, out="", err='{"error": "not found"}', seconds=1))
