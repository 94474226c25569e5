import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fakes.approvals import make_question
from marid.adapters.sqlite_approvals import COLUMNS, SqliteApprovals, from_row, to_row
from marid.core.errors import Unavailable
from marid.core.policy.approval import Approval, ApprovalAnswer, person_caller

HUMAN = person_caller("terminal")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "approvals.db"


def test_only_the_owner_may_read_the_file(path: Path) -> None:
    store = SqliteApprovals(str(path))
    store.open(make_question(created=2e9))
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    store.close_file()


def test_the_mode_of_an_existing_file_is_tightened(path: Path) -> None:
    path.parent.mkdir()
    path.touch(0o644)
    path.chmod(0o644)
    SqliteApprovals(str(path)).add_grant("run:1", "host:a")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_read_does_not_create_the_file(path: Path) -> None:
    store = SqliteApprovals(str(path))
    assert (store.get("q"), store.pending(), store.has_grant("a", "b")) == (None, [], False)
    assert not path.parent.exists()


def test_a_later_process_finds_the_questions_of_an_earlier_one(path: Path) -> None:
    SqliteApprovals(str(path), clock=lambda: 1000.0).open(make_question())
    second = SqliteApprovals(str(path), clock=lambda: 1001.0)
    assert [row.question.id for row in second.pending()] == ["q1"]
    second.answer("q1", ApprovalAnswer.YES, HUMAN)
    assert (
        SqliteApprovals(str(path), clock=lambda: 1002.0).open(make_question(created=1002.0)).answer
        is ApprovalAnswer.YES
    )


def test_a_symbolic_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "elsewhere").touch()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        SqliteApprovals(str(path)).open(make_question())
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_damaged_file_is_reported_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    store = SqliteApprovals(str(path))
    with pytest.raises(Unavailable, match="cannot be used"):
        store.open(make_question())
    with pytest.raises(Unavailable):
        store.has_grant("a", "b")
    assert path.read_bytes() == b"no database at all" * 100


def test_tables_of_a_newer_version_are_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(Unavailable, match="newer version"):
        SqliteApprovals(str(path)).open(make_question())


def test_a_deleted_file_is_created_again(path: Path) -> None:
    store = SqliteApprovals(str(path), clock=lambda: 1000.0)
    store.open(make_question())
    for file in path.parent.iterdir():
        file.unlink()
    assert store.pending() == []
    store.open(make_question("q2"))
    assert [row.question.id for row in SqliteApprovals(str(path), clock=lambda: 1000.0).pending()] == ["q2"]


def test_a_write_lock_that_is_held_too_long_is_reported(path: Path) -> None:
    store = SqliteApprovals(str(path), busy_timeout=0.01)
    store.add_grant("a", "b")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            store.add_grant("a", "c")
    store.add_grant("a", "c")


def test_old_rows_are_deleted(path: Path) -> None:
    store = SqliteApprovals(str(path), clock=lambda: 1000.0)
    store.open(make_question("old"))
    store.add_grant("run:1", "host:a")
    store.add_grant("conversation:1", "host:a")
    later = SqliteApprovals(str(path), clock=lambda: 40 * 86_400.0)
    later.open(make_question("new", created=40 * 86_400.0))
    assert later.get("old") is None
    assert not later.has_grant("run:1", "host:a")
    assert later.has_grant("conversation:1", "host:a")


@pytest.mark.parametrize(
    "approval",
    [
        Approval(make_question(conversation="c")),
        Approval(make_question(always=False), answer=ApprovalAnswer.ALWAYS, by="person:web", answered=5.5, closed=True),
    ],
)
def test_a_row_is_read_as_it_was_written(approval: Approval) -> None:
    row = to_row(approval)
    assert len(row) == COLUMNS.count(",") + 1
    assert from_row(row) == approval


@pytest.mark.parametrize(("column", "value"), [(1, "bogus"), (3, "no json"), (3, "[]"), (3, "7"), (12, "maybe")])
def test_a_row_that_was_tampered_with_is_an_error(column: int, value: str) -> None:
    row = list(to_row(Approval(make_question(), answer=ApprovalAnswer.YES)))
    row[column] = value
    with pytest.raises(Unavailable, match="damaged"):
        from_row(tuple(row))


ANSWER = """
import json, sys
from marid.adapters.sqlite_approvals import SqliteApprovals
from marid.core.policy.approval import ApprovalAnswer, person_caller
from marid.core.errors import Refused
store = SqliteApprovals(sys.argv[1])
won = []
for key in sys.argv[3:]:
    try:
        store.answer(key, ApprovalAnswer.YES, person_caller(sys.argv[2]))
        won.append(key)
    except Refused:
        pass
print(json.dumps(won))
"""


def test_of_two_processes_that_answer_one_wins_each_question(path: Path) -> None:
    store = SqliteApprovals(str(path))
    keys = [f"q{number}" for number in range(20)]
    for key in keys:
        store.open(make_question(key, conversation=key, created=2e9))
    commands = [[sys.executable, "-c", ANSWER, str(path), name, *keys] for name in ("a", "b")]
    people = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    won = [json.loads(one.communicate(timeout=60)[0]) for one in people]
    assert sorted([*won[0], *won[1]]) == sorted(keys)
    found = [store.get(key) for key in keys]
    assert {row.question.id for row in found if row is not None and row.by == "person:a"} == set(won[0])
    store.close_file()


ASK = """
import sys
from marid.adapters.sqlite_approvals import SqliteApprovals
from fakes.approvals import make_question
store = SqliteApprovals(sys.argv[1])
for number in range(8):
    store.open(make_question(f"q{number}", created=2e9))
"""


def test_a_question_whose_process_has_ended_says_so_and_does_not_count(path: Path) -> None:
    subprocess.run([sys.executable, "-c", ASK, str(path)], check=True, cwd=Path(__file__).parents[2])
    store = SqliteApprovals(str(path))
    assert {row.gone for row in store.pending()} == {True}
    store.open(make_question("q8", created=2e9))  # none of the eight waits
    assert store.answer("q0", ApprovalAnswer.YES, HUMAN).gone
    assert not store.open(make_question("q1", created=2e9)).gone
    assert [row.question.id for row in store.pending() if not row.gone] == ["q1", "q8"]
    store.close_file()


def test_a_file_of_the_first_version_is_brought_up_to_date(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """CREATE TABLE approval (
            id TEXT PRIMARY KEY, kind TEXT, tool TEXT, caller TEXT, conversation TEXT, text TEXT, hash TEXT,
            created REAL, expires REAL, always INTEGER, scope TEXT, grant_ TEXT, answer TEXT, answered_by TEXT,
            answered REAL, closed INTEGER) WITHOUT ROWID;
            CREATE TABLE standing (scope TEXT, grant_ TEXT, made REAL, PRIMARY KEY (scope, grant_)) WITHOUT ROWID;
            INSERT INTO standing VALUES ('run:1', 'host:a', 1.0);
            PRAGMA user_version = 1;"""
        )
    store = SqliteApprovals(str(path))
    assert [(one.grant, one.covers) for one in store.grants()] == [("host:a", "")]
    store.open(make_question(created=2e9))
    store.close_file()
