import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fakes.approvals import asked
from marid.adapters.approvals.database import SqliteApprovals
from marid.core.errors import Unavailable
from marid.core.policy.approval import ApprovalAnswer, person_caller

HUMAN = person_caller("terminal")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "approvals.db"


def test_only_the_owner_may_read_it(path: Path) -> None:
    store = SqliteApprovals(str(path))
    store.open(asked(created=2e9))
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    store.close_file()


def test_a_file_that_others_may_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir()
    path.touch(0o644)
    path.chmod(0o644)
    SqliteApprovals(str(path)).add_grant("run:1", "host:a")
    assert path.stat().st_mode & 0o777 == 0o600


def test_looking_makes_no_file(path: Path) -> None:
    store = SqliteApprovals(str(path))
    assert store.get("q") is None
    assert store.pending() == []
    assert not store.has_grant("a", "b")
    assert not path.parent.exists()


def test_a_new_program_finds_what_the_old_one_left(path: Path) -> None:
    SqliteApprovals(str(path), clock=lambda: 1000.0).open(asked())
    second = SqliteApprovals(str(path), clock=lambda: 1001.0)
    assert [row.question.id for row in second.pending()] == ["q1"]
    second.answer("q1", ApprovalAnswer.YES, HUMAN)
    assert SqliteApprovals(str(path), clock=lambda: 1002.0).open(asked(created=1002.0)).answer is ApprovalAnswer.YES


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "elsewhere").touch()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        SqliteApprovals(str(path)).open(asked())
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_broken_file_is_told_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    store = SqliteApprovals(str(path))
    with pytest.raises(Unavailable, match="cannot be used"):
        store.open(asked())
    with pytest.raises(Unavailable):
        store.has_grant("a", "b")
    assert path.read_bytes() == b"no database at all" * 100


def test_rows_of_a_newer_version_are_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(Unavailable, match="newer version"):
        SqliteApprovals(str(path)).open(asked())


def test_a_file_that_vanished_is_made_anew(path: Path) -> None:
    store = SqliteApprovals(str(path), clock=lambda: 1000.0)
    store.open(asked())
    for file in path.parent.iterdir():
        file.unlink()
    assert store.pending() == []
    store.open(asked("q2"))
    assert [row.question.id for row in SqliteApprovals(str(path), clock=lambda: 1000.0).pending()] == ["q2"]


def test_a_writer_that_holds_the_file_too_long_is_told(path: Path) -> None:
    store = SqliteApprovals(str(path), busy_timeout=0.01)
    store.add_grant("a", "b")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            store.add_grant("a", "c")
    store.add_grant("a", "c")


def test_old_rows_go(path: Path) -> None:
    store = SqliteApprovals(str(path), clock=lambda: 1000.0)
    store.open(asked("old"))
    store.add_grant("run:1", "host:a")
    store.add_grant("conversation:1", "host:a")
    later = SqliteApprovals(str(path), clock=lambda: 40 * 86_400.0)
    later.open(asked("new", created=40 * 86_400.0))
    assert later.get("old") is None
    assert not later.has_grant("run:1", "host:a")
    assert later.has_grant("conversation:1", "host:a")


ANSWER = """
import json, sys
from marid.adapters.approvals.database import SqliteApprovals
from marid.core.policy.approval import ApprovalAnswer, person_caller
from marid.core.errors import Refused
store = SqliteApprovals(sys.argv[1])
won = []
for line in sys.stdin:
    try:
        store.answer(line.strip(), ApprovalAnswer.YES, person_caller(sys.argv[2]))
        won.append(line.strip())
    except Refused:
        pass
print(json.dumps(won))
"""


def test_of_two_processes_that_answer_each_question_is_answered_by_one(path: Path) -> None:
    store = SqliteApprovals(str(path))
    keys = [f"q{number}" for number in range(20)]
    for key in keys:
        store.open(asked(key, conversation=key, created=2e9))
    people = [
        subprocess.Popen(
            [sys.executable, "-c", ANSWER, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("a", "b")
    ]
    for one in people:
        assert one.stdin is not None
        one.stdin.write("".join(f"{key}\n" for key in keys))
        one.stdin.flush()
    won = [json.loads(one.communicate(timeout=60)[0]) for one in people]
    assert sorted([*won[0], *won[1]]) == sorted(keys)
    found = [store.get(key) for key in keys]
    assert {row.question.id for row in found if row is not None and row.by == "person:a"} == set(won[0])
    store.close_file()
