import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.bd import install
from marid.adapters.beads import BeadsFile, BeadsProgram, ProjectBeads
from marid.adapters.process.programs import ProgramLimits
from marid.core.errors import BadInput, Exhausted, NotFound, Refused, Unavailable
from marid.ports.beads import NO_WORKSPACE, Bead, BeadsCommand, BeadsRewrite
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


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    stored = tmp_path / "project"
    (stored / ".beads").mkdir(parents=True)
    store(
        stored, *({"id": f"bd-{n}", "title": f"t{n}", "status": "closed" if n % 2 else "open"} for n in range(1, 131))
    )
    return stored


def store(stored: Path, *issues: dict[str, Any]) -> None:
    (stored / ".beads" / "store.json").write_text(json.dumps({"issues": issues}))


def program_beads(stored: Path, limits: ProgramLimits | None = None) -> BeadsProgram:
    env = {"PATH": os.environ["PATH"], "HOME": str(stored.parent), "API_KEY": "canary"}
    program = str(install(stored.parent / "bin"))
    return BeadsProgram(
        program=program, root=str(stored), env=env, actor="marid", limits=limits or ProgramLimits(timeout=20)
    )


def carried_out(command: BeadsCommand, stored: Path) -> str:
    """What the dispatcher would do, without a sandbox."""
    done = subprocess.run(command.argv, cwd=stored, capture_output=True, text=True, check=False, env={})
    return command.report(done.returncode, done.stdout, done.stderr)


def calls(stored: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (stored / ".beads" / "calls.jsonl").read_text().splitlines()]


def test_everything_is_listed_though_the_program_would_stop_early(stored: Path) -> None:
    assert len(program_beads(stored).list_all().beads) == 130
    assert program_beads(stored).list_all().beads[0] == Bead(id="bd-1", status="closed", title="t1")


def test_what_is_ready_is_listed(stored: Path) -> None:
    assert len(program_beads(stored).list_ready().beads) == 65


def test_the_program_gets_a_small_environment_and_its_folder(stored: Path) -> None:
    program_beads(stored).list_all()
    (call,) = calls(stored)
    assert call["args"] == ["list", "--all", "--limit", "0", "--json"]
    assert call["cwd"] == str(stored)
    assert call["env"]["BEADS_DIR"] == f"{stored}/.beads"
    assert call["env"]["BEADS_ACTOR"] == "marid"
    assert "API_KEY" not in call["env"]


def test_an_issue_is_created_by_a_command_that_is_only_planned(stored: Path) -> None:
    command = program_beads(stored).create("--force; rm -rf /", "why\n'how'")
    assert not (stored / ".beads" / "calls.jsonl").exists()
    assert "'--title=--force; rm -rf /'" in command.shown
    assert carried_out(command, stored) == "Created bead bd-131"
    assert program_beads(stored).list_all().beads[-1].title == "--force; rm -rf /"


def test_a_status_is_changed(stored: Path) -> None:
    assert (
        carried_out(program_beads(stored).update("bd-2", "in_progress"), stored) == "Updated bead bd-2 to in_progress"
    )
    assert program_beads(stored).list_all().beads[1].status == "in_progress"


def test_closing_is_a_command_of_its_own(stored: Path) -> None:
    command = program_beads(stored).update("bd-2", "closed")
    assert "close" in command.argv
    assert carried_out(command, stored) == "Updated bead bd-2 to closed"


def test_an_unknown_id_is_not_found_once_the_program_ran(stored: Path) -> None:
    with pytest.raises(NotFound, match="bd-999 not found"):
        carried_out(program_beads(stored).update("bd-999", "open"), stored)


def test_an_unknown_status_is_told_by_the_program(stored: Path) -> None:
    with pytest.raises(Unavailable, match="invalid status: odd"):
        carried_out(program_beads(stored).update("bd-2", "odd"), stored)


@pytest.mark.parametrize(("name", "status"), [("", "open"), ("--all", "open"), ("bd-1", "--x"), ("bd-1", "")])
def test_what_the_program_could_take_for_something_else_is_not_given_to_it(
    stored: Path, name: str, status: str
) -> None:
    with pytest.raises(BadInput):
        program_beads(stored).update(name, status)


def test_no_database_is_no_workspace(stored: Path) -> None:
    (stored / ".beads" / "store.json").unlink()
    with pytest.raises(NotFound) as caught:
        program_beads(stored).list_all()
    assert str(caught.value) == NO_WORKSPACE


def test_an_answer_that_is_no_json_is_an_error(stored: Path) -> None:
    (stored / ".beads" / "break").touch()
    with pytest.raises(Unavailable, match="did not print a list of issues"):
        program_beads(stored).list_all()


def test_an_endless_answer_is_stopped(stored: Path) -> None:
    with pytest.raises(Exhausted):
        program_beads(stored, ProgramLimits(max_output=100)).list_all()


ANSWERS = {
    "array": '[{"id": "bd-7"}]',
    "object": '{"schema_version": 1, "id": "bd-7"}',
    "envelope": '{"schema_version": 1, "data": {"id": "bd-7"}}',
    "envelope with array": '{"schema_version": 1, "data": [{"id": "bd-7"}]}',
    "noise": 'Note: [hooks] are old\n{not json\n{\n "id": "bd-7"\n}\nbye\n',
}


@pytest.mark.parametrize("out", ANSWERS.values(), ids=ANSWERS)
def test_every_form_of_answer_is_understood(stored: Path, out: str) -> None:
    assert program_beads(stored).create("x", "y").report(0, out, "") == "Created bead bd-7"


@pytest.mark.parametrize("out", ["", "null", "[1]", '{"data": 5}', "[[", '[{"title": "x"}]', "[" * 100_000])
def test_other_answers_are_errors(stored: Path, out: str) -> None:
    with pytest.raises(Unavailable):
        program_beads(stored).create("x", "y").report(0, out, "")


def test_an_empty_array_names_nothing(stored: Path) -> None:
    assert program_beads(stored).create("x", "y").report(0, "[]", "") == "Created bead "


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
def test_a_failure_is_told_in_few_words(stored: Path, err: str, words: str) -> None:
    with pytest.raises(Unavailable, match=words):
        program_beads(stored).create("x", "y").report(3, "", err)


NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)


def plant_issues(root: Path, *records: dict[str, Any]) -> None:
    (root / ".beads").mkdir(exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    (root / ".beads" / "issues.jsonl").write_text(text)


def file_beads(root: Path, behind: str = "") -> BeadsFile:
    return BeadsFile(root=PathScope([str(root)]).resolve("."), now=NOW, actor="marid", database=behind)


def test_all_but_the_deleted_are_listed_in_order(tmp_path: Path) -> None:
    plant_issues(
        tmp_path,
        {"id": "a-2", "title": "two", "status": "closed"},
        {"id": "a-1", "title": "one", "status": "open"},
        {"id": "a-3", "title": "three", "status": "tombstone"},
    )
    listing = file_beads(tmp_path).list_all()
    assert listing.beads == (Bead(id="a-2", status="closed", title="two"), Bead(id="a-1", status="open", title="one"))
    assert listing.remark == ""
    assert [bead.id for bead in file_beads(tmp_path).list_ready().beads] == ["a-1"]


def test_no_file_is_an_empty_workspace(tmp_path: Path) -> None:
    assert file_beads(tmp_path).list_all().beads == ()
    with pytest.raises(NotFound, match="no issues yet"):
        file_beads(tmp_path).update("a-1", "open")
    draft = file_beads(tmp_path).create("First", "words")
    assert draft.before is None
    assert draft.name == ".beads/issues.jsonl"


def test_a_new_issue_is_one_line_more(tmp_path: Path) -> None:
    plant_issues(tmp_path, {"id": "app-x1", "title": "one", "status": "open"})
    before = (tmp_path / ".beads" / "issues.jsonl").read_bytes()
    draft = file_beads(tmp_path).create("--force", "why\nand how")
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
    plant_issues(root)
    (root / ".beads" / "config.yaml").write_text(config)
    assert file_beads(root).create("x", "").text.startswith(f"Created bead {prefix}")


def test_a_status_must_be_known(tmp_path: Path) -> None:
    plant_issues(tmp_path, {"id": "a-1", "status": "open"}, {"id": "a-2", "status": "odd"})
    (tmp_path / ".beads" / "config.yaml").write_text('status.custom: "review:active, shipped"\n')
    for status in ("closed", "review", "shipped", "odd"):
        assert json.loads(file_beads(tmp_path).update("a-1", status).after.split(b"\n")[0])["status"] == status
    for status in ("tombstone", "nope", ""):
        with pytest.raises(BadInput, match="unknown status"):
            file_beads(tmp_path).update("a-1", status)


def test_an_id_that_is_taken_is_not_given_again(tmp_path: Path) -> None:
    plant_issues(tmp_path, {"id": "app-x1", "status": "open"})
    first = file_beads(tmp_path).create("Same", "words").text.removeprefix("Created bead ")
    plant_issues(tmp_path, {"id": "app-x1", "status": "open"}, {"id": first, "status": "open"})
    assert file_beads(tmp_path).create("Same", "words").text != f"Created bead {first}"


def test_an_empty_id_is_never_the_last_one_touched(tmp_path: Path) -> None:
    plant_issues(tmp_path, {"id": "a-1", "status": "open"})
    with pytest.raises(BadInput):
        file_beads(tmp_path).update("", "closed")


def test_a_copy_of_a_database_is_read_with_a_remark_and_never_written(tmp_path: Path) -> None:
    plant_issues(tmp_path, {"id": "a-1", "title": "x", "status": "open"})
    copy = file_beads(tmp_path, behind="the database in .beads/dolt")
    assert "may be behind the database in .beads/dolt" in copy.list_all().remark
    assert "may be behind" in copy.list_ready().remark
    with pytest.raises(Refused, match="would be lost"):
        copy.update("a-1", "closed")
    with pytest.raises(Refused, match="`bd`"):
        copy.create("x", "y")


def test_a_database_without_a_copy_needs_the_program(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="not installed"):
        file_beads(tmp_path, behind="the database in .beads/dolt").list_all()


def test_a_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text('{"id":"canary"}\n')
    (tmp_path / "root" / ".beads").mkdir(parents=True)
    (tmp_path / "root" / ".beads" / "issues.jsonl").symlink_to(tmp_path / "out.jsonl")
    with pytest.raises(Refused):
        file_beads(tmp_path / "root").list_all()
