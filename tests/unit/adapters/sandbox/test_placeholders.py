import os
from pathlib import Path

import pytest

from marid.adapters.sandbox.placeholders import Placeholders
from marid.core.errors import Unavailable


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "state" / "records"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


def test_names_are_there_for_a_while_and_then_gone(records: Path, root: Path) -> None:
    with Placeholders(str(records)).hold(str(root), (".git", ".mcp.json")):
        assert sorted(path.name for path in root.iterdir()) == [".git", ".mcp.json"]
    assert list(root.iterdir()) == []
    assert list(records.iterdir()) == []


def test_what_was_there_before_stays(records: Path, root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".mcp.json").write_text("mine")
    with Placeholders(str(records)).hold(str(root), (".git", ".mcp.json", ".vscode")):
        pass
    assert sorted(path.name for path in root.iterdir()) == [".git", ".mcp.json"]


def test_what_somebody_filled_meanwhile_stays(records: Path, root: Path) -> None:
    with Placeholders(str(records)).hold(str(root), (".git",)):
        (root / ".git" / "HEAD").touch()
    assert (root / ".git" / "HEAD").exists()


def test_whoever_leaves_last_takes_them_away(records: Path, root: Path) -> None:
    first, second = Placeholders(str(records)), Placeholders(str(records))
    with first.hold(str(root), (".git",)):
        with second.hold(str(root), (".git",)):
            pass
        assert (root / ".git").exists()
    assert not (root / ".git").exists()


def test_the_first_may_leave_before_the_second(records: Path, root: Path) -> None:
    one = Placeholders(str(records)).hold(str(root), (".git",))
    two = Placeholders(str(records)).hold(str(root), (".git",))
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert (root / ".git").exists()
    two.__exit__(None, None, None)
    assert not (root / ".git").exists()


def test_a_sweep_takes_away_what_was_left_and_leaves_what_is_in_use(records: Path, root: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    (left / ".git").mkdir(parents=True)
    records.mkdir(parents=True)
    (records / "x").write_bytes(os.fsencode(left / ".git") + b"\0" + os.fsencode(left / ".gone") + b"\0")
    placeholders = Placeholders(str(records))
    with placeholders.hold(str(root), (".git",)):
        placeholders.remove_stale()
        assert (root / ".git").exists()
        assert not (left / ".git").exists()
        assert len(list(records.iterdir())) == 1


def test_a_sweep_where_nothing_ever_ran_does_nothing(records: Path) -> None:
    Placeholders(str(records)).remove_stale()
    assert not records.exists()


def test_a_root_that_cannot_be_written_needs_nothing(records: Path) -> None:
    with Placeholders(str(records)).hold("/proc/sys", (".git",)):
        assert not Path("/proc/sys/.git").exists()
    assert list(records.iterdir()) == []


def test_without_a_place_for_records_nothing_is_made(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    held = Placeholders(str(tmp_path / "file" / "records")).hold(str(root), (".git",))
    with pytest.raises(Unavailable, match="cannot record"), held:
        pass
    assert list(root.iterdir()) == []


def test_a_record_that_was_removed_while_waiting_is_not_used(records: Path, root: Path) -> None:
    """Whoever had it removed it under a lock: the next makes a new one."""
    placeholders = Placeholders(str(records))
    with placeholders.hold(str(root), (".git",)):
        (record,) = records.iterdir()
        record.unlink()
        with placeholders.hold(str(root), (".vscode",)):
            assert len(list(records.iterdir())) == 1
        assert list(records.iterdir()) == []
    assert not (root / ".vscode").exists()
