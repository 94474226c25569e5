"""What the port Beads promises: by the file, by the program, and in memory."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.bd import install
from fakes.ports import FakeBeads
from marid.adapters.beads import BeadsFile, BeadsProgram, ProjectBeads
from marid.core.errors import BadInput
from marid.ports.beads import Bead, BeadsWorkspace
from marid.workspace.guard.api import PathScope

KNOWN = (Bead(id="a-1", status="open", title="One"), Bead(id="a-2", status="closed", title="Two"))


def planted(root: Path) -> list[dict[str, str]]:
    (root / ".beads").mkdir()
    return [{"id": bead.id, "status": bead.status, "title": bead.title} for bead in KNOWN]


def by_file(root: Path) -> BeadsWorkspace:
    text = "".join(json.dumps(record) + "\n" for record in planted(root))
    (root / ".beads" / "issues.jsonl").write_text(text)
    return BeadsFile(root=PathScope([str(root)]).resolve("."), now=datetime(2026, 5, 6, tzinfo=UTC), actor="marid")


def by_program(root: Path) -> BeadsWorkspace:
    text = json.dumps({"issues": planted(root)})
    (root / ".beads" / "store.json").write_text(text)
    program = str(install(root / "bin"))
    return BeadsProgram(program=program, root=str(root), env={"PATH": os.environ["PATH"]}, actor="marid")


def as_found(root: Path) -> BeadsWorkspace:
    by_file(root)
    return ProjectBeads(PathScope([str(root)]), {"PATH": ""})


def in_memory(root: Path) -> BeadsWorkspace:
    return FakeBeads(known=list(KNOWN))


@pytest.fixture(params=[by_file, by_program, as_found, in_memory])
def beads(request: pytest.FixtureRequest, tmp_path: Path) -> BeadsWorkspace:
    make: Callable[[Path], BeadsWorkspace] = request.param
    return make(tmp_path)


def test_all_are_listed_and_the_open_one_is_ready(beads: BeadsWorkspace) -> None:
    assert beads.list_all().beads == KNOWN
    assert beads.list_ready().beads == KNOWN[:1]


def test_changes_are_only_planned(beads: BeadsWorkspace) -> None:
    beads.create("Three", "because")
    beads.update("a-1", "closed")
    assert beads.list_all().beads == KNOWN


@pytest.mark.parametrize("title", ["", "x" * 501, "a\nb"])
def test_what_is_no_title_is_bad_input(beads: BeadsWorkspace, title: str) -> None:
    with pytest.raises(BadInput):
        beads.create(title, "")


@pytest.mark.parametrize(("name", "status"), [("", "open"), ("-x", "open"), ("a-1", ""), ("a-1", "--force")])
def test_what_names_nothing_is_bad_input(beads: BeadsWorkspace, name: str, status: str) -> None:
    with pytest.raises(BadInput):
        beads.update(name, status)
