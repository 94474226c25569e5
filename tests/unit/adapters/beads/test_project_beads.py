import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.bd import install
from marid.adapters.beads import ProjectBeads
from marid.core.errors import NotFound, Refused, Unavailable
from marid.ports.beads import NO_WORKSPACE, BeadsCommand, BeadsRewrite
from marid.workspace.guard.api import PathScope

ISSUES = '{"id":"a-1","title":"one","status":"open"}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def territory(root: Path) -> Iterator[PathScope]:
    territory = PathScope([str(root)])
    yield territory
    territory.close()


def beads(territory: PathScope, path: str = "/nonexistent") -> ProjectBeads:
    return ProjectBeads(territory, {"PATH": path})


def plant(root: Path, *names: str) -> None:
    for name in names:
        place = root / ".beads" / name
        if name.endswith("/"):
            place.mkdir(parents=True)
        else:
            place.parent.mkdir(exist_ok=True)
            place.write_text(ISSUES if name == "issues.jsonl" else "")


@pytest.mark.parametrize("names", [(), ("README.md",), ("vc.db",), ("old.backup.db",), ("dolt",)])
def test_without_a_workspace_the_words_are_the_documents(
    root: Path, territory: PathScope, names: tuple[str, ...]
) -> None:
    plant(root, *names)
    found = beads(territory)
    for call in (found.list_all, found.list_ready, lambda: found.create("x", "y"), lambda: found.update("a-1", "open")):
        with pytest.raises(NotFound) as caught:
            call()
        assert str(caught.value) == NO_WORKSPACE == "no active workspace to run beads tools."


def test_a_file_of_that_name_is_no_workspace(root: Path, territory: PathScope) -> None:
    (root / ".beads").write_text("x")
    with pytest.raises(NotFound, match="no active workspace"):
        beads(territory).list_all()


def test_a_workspace_above_the_root_is_not_ours(root: Path) -> None:
    plant(root.parent, "issues.jsonl")
    territory = PathScope([str(root)])
    with pytest.raises(NotFound):
        beads(territory).list_all()
    territory.close()


def test_issues_alone_are_read_and_written_by_us(root: Path, territory: PathScope, tmp_path: Path) -> None:
    plant(root, "issues.jsonl")
    install(tmp_path / "bin")
    for path in ("/nonexistent", str(tmp_path / "bin")):
        found = beads(territory, path)
        assert [bead.id for bead in found.list_all().beads] == ["a-1"]
        assert [bead.id for bead in found.list_ready().beads] == ["a-1"]
        assert isinstance(found.create("x", "y"), BeadsRewrite)
        assert isinstance(found.update("a-1", "closed"), BeadsRewrite)


@pytest.mark.parametrize("mark", ["metadata.json", "config.yaml"])
def test_a_configured_workspace_without_a_database_is_ours_to_write(
    root: Path, territory: PathScope, mark: str
) -> None:
    plant(root, mark)
    draft = beads(territory).create("x", "y")
    assert isinstance(draft, BeadsRewrite)
    assert draft.before is None


@pytest.mark.parametrize("database", ["dolt/", "embeddeddolt/", "beads.db"])
def test_behind_a_database_we_only_read(root: Path, territory: PathScope, database: str) -> None:
    plant(root, "issues.jsonl", database)
    assert database.strip("/") in beads(territory).list_all().remark
    with pytest.raises(Refused):
        beads(territory).create("x", "y")


def test_a_database_alone_needs_the_program(root: Path, territory: PathScope) -> None:
    plant(root, "dolt/")
    with pytest.raises(Unavailable, match="not installed"):
        beads(territory).list_all()


@pytest.mark.parametrize("mark", ["dolt/", "beads.db", "config.yaml"])
def test_where_the_program_is_it_does_the_work(root: Path, territory: PathScope, tmp_path: Path, mark: str) -> None:
    plant(root, "issues.jsonl", mark)
    install(tmp_path / "bin")
    (root / ".beads" / "store.json").write_text('{"issues": [{"id": "bd-9", "title": "t", "status": "open"}]}')
    found = beads(territory, f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert [bead.id for bead in found.list_all().beads] == ["bd-9"]
    assert isinstance(found.create("x", "y"), BeadsCommand)


def test_a_workspace_elsewhere_is_not_followed(root: Path, territory: PathScope) -> None:
    plant(root, "redirect", "issues.jsonl")
    with pytest.raises(Refused, match="another project"):
        beads(territory).list_all()


def test_a_workspace_behind_a_link_outside_is_refused(root: Path, territory: PathScope, tmp_path: Path) -> None:
    plant(tmp_path, "issues.jsonl")
    (root / ".beads").symlink_to(tmp_path / ".beads")
    with pytest.raises(Refused):
        beads(territory).list_all()
