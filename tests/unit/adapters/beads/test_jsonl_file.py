import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from marid.adapters.beads import BeadsFile
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.ports.beads import Bead
from marid.workspace.guard.api import PathScope

NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)


def plant(root: Path, *records: dict[str, Any]) -> None:
    (root / ".beads").mkdir(exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    (root / ".beads" / "issues.jsonl").write_text(text)


def beads(root: Path, behind: str = "") -> BeadsFile:
    return BeadsFile(root=PathScope([str(root)]).resolve("."), now=NOW, actor="marid", database=behind)


def test_all_but_the_deleted_are_listed_in_order(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {"id": "a-2", "title": "two", "status": "closed"},
        {"id": "a-1", "title": "one", "status": "open"},
        {"id": "a-3", "title": "three", "status": "tombstone"},
    )
    listing = beads(tmp_path).list_all()
    assert listing.beads == (Bead(id="a-2", status="closed", title="two"), Bead(id="a-1", status="open", title="one"))
    assert listing.remark == ""
    assert [bead.id for bead in beads(tmp_path).list_ready().beads] == ["a-1"]


def test_no_file_is_an_empty_workspace(tmp_path: Path) -> None:
    assert beads(tmp_path).list_all().beads == ()
    with pytest.raises(NotFound, match="no issues yet"):
        beads(tmp_path).update("a-1", "open")
    draft = beads(tmp_path).create("First", "words")
    assert draft.before is None
    assert draft.name == ".beads/issues.jsonl"


def test_a_new_issue_is_one_line_more(tmp_path: Path) -> None:
    plant(tmp_path, {"id": "app-x1", "title": "one", "status": "open"})
    before = (tmp_path / ".beads" / "issues.jsonl").read_bytes()
    draft = beads(tmp_path).create("--force", "why\nand how")
    assert draft.before == before
    assert draft.after.startswith(before)
    record = json.loads(draft.after[len(before) :])
    assert record["id"].startswith("app-")
    assert draft.text == f"Created bead {record['id']}"
    assert record == {
        "id": record["id"],
        "title": "--force",
        "description": "why\nand how",
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "created_at": "2026-05-06T07:08:09.000000Z",
        "created_by": "marid",
        "updated_at": "2026-05-06T07:08:09.000000Z",
    }


@pytest.mark.parametrize(
    ("config", "prefix"),
    [
        ("issue-prefix: team\n", "team-"),
        ('# x\nissue-prefix: "te-am" # y\n', "te-am-"),
        ("issue-prefix: [x\n", "proj-"),
    ],
)
def test_the_prefix_may_be_configured(tmp_path: Path, config: str, prefix: str) -> None:
    root = tmp_path / "proj"
    root.mkdir()
    plant(root)
    (root / ".beads" / "config.yaml").write_text(config)
    assert beads(root).create("x", "").text.startswith(f"Created bead {prefix}")


def test_a_status_must_be_known(tmp_path: Path) -> None:
    plant(tmp_path, {"id": "a-1", "status": "open"}, {"id": "a-2", "status": "odd"})
    (tmp_path / ".beads" / "config.yaml").write_text('status.custom: "review:active, shipped"\n')
    for status in ("closed", "review", "shipped", "odd"):
        assert json.loads(beads(tmp_path).update("a-1", status).after.split(b"\n")[0])["status"] == status
    for status in ("tombstone", "nope", ""):
        with pytest.raises(BadInput, match="unknown status"):
            beads(tmp_path).update("a-1", status)


def test_an_id_that_is_taken_is_not_given_again(tmp_path: Path) -> None:
    plant(tmp_path, {"id": "app-x1", "status": "open"})
    first = beads(tmp_path).create("Same", "words").text.removeprefix("Created bead ")
    plant(tmp_path, {"id": "app-x1", "status": "open"}, {"id": first, "status": "open"})
    assert beads(tmp_path).create("Same", "words").text != f"Created bead {first}"


def test_an_empty_id_is_never_the_last_one_touched(tmp_path: Path) -> None:
    plant(tmp_path, {"id": "a-1", "status": "open"})
    with pytest.raises(BadInput):
        beads(tmp_path).update("", "closed")


def test_a_copy_of_a_database_is_read_with_a_remark_and_never_written(tmp_path: Path) -> None:
    plant(tmp_path, {"id": "a-1", "title": "x", "status": "open"})
    copy = beads(tmp_path, behind="the database in .beads/dolt")
    assert "may be behind the database in .beads/dolt" in copy.list_all().remark
    assert "may be behind" in copy.list_ready().remark
    with pytest.raises(Refused, match="would be lost"):
        copy.update("a-1", "closed")
    with pytest.raises(Refused, match="`bd`"):
        copy.create("x", "y")


def test_a_database_without_a_copy_needs_the_program(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="not installed"):
        beads(tmp_path, behind="the database in .beads/dolt").list_all()


def test_a_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text('{"id":"canary"}\n')
    (tmp_path / "root" / ".beads").mkdir(parents=True)
    (tmp_path / "root" / ".beads" / "issues.jsonl").symlink_to(tmp_path / "out.jsonl")
    with pytest.raises(Refused):
        beads(tmp_path / "root").list_all()
