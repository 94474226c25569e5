"""What is moved away and what is not; commands that do it are in tests/flow/test_sandbox.py."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.core.errors import NotFound, Refused, Unavailable
from marid.workspace.quarantine import Quarantine

NAMES = (".git", ".mcp.json")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


@pytest.fixture
def quarantine(home: Path) -> Quarantine:
    return Quarantine(str(home))


@pytest.fixture
def other_disk() -> Iterator[Path]:
    """A folder on another file system than the tests' own."""
    place = Path("/dev/shm") / f"marid-quarantine-{os.getpid()}"
    place.mkdir()
    yield place
    for folder, _, files in os.walk(place, topdown=False):
        for name in files:
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


def left_by_a_kill(quarantine: Quarantine, home: Path, root: Path) -> None:
    """A record whose process is gone."""
    with quarantine.watch([(str(root), NAMES)]):
        (record,) = (home / "sandbox").iterdir()
        data = record.read_bytes()
    (home / "sandbox" / "left").write_bytes(data)


def test_nothing_appears_in_the_folder(quarantine: Quarantine, home: Path, root: Path) -> None:
    with quarantine.watch([(str(root), NAMES)]) as record:
        assert list(root.iterdir()) == []
    assert record.notes == []
    assert list((home / "sandbox").iterdir()) == []
    assert quarantine.items() == []


def test_what_was_absent_is_moved_and_what_was_there_stays(quarantine: Quarantine, root: Path) -> None:
    (root / ".mcp.json").write_text("mine")
    with quarantine.watch([(str(root), NAMES)]) as record:
        plant(root, {".git/config": "x", "other": ""})
        (root / ".mcp.json").write_text("still mine")
    assert sorted(path.name for path in root.iterdir()) == [".mcp.json", "other"]
    (item,) = quarantine.items()
    assert item.path == str(root / ".git")
    assert record.notes == [
        f"moved to quarantine: {root}/.git, which commands may not create; "
        f"`marid quarantine restore {item.id}` moves it back"
    ]


def test_it_is_moved_back_unless_its_place_is_taken(quarantine: Quarantine, home: Path, root: Path) -> None:
    with quarantine.watch([(str(root), NAMES)]):
        plant(root, {".git/config": "x"})
    (item,) = quarantine.items()
    (root / ".git").touch()
    with pytest.raises(Refused, match="exists"):
        quarantine.restore(item.id)
    (root / ".git").unlink()
    assert quarantine.restore(item.id[:4]) == item
    assert (root / ".git" / "config").read_text() == "x"
    assert list((home / "quarantine").iterdir()) == []


def test_it_stays_in_quarantine_if_its_folder_is_gone(quarantine: Quarantine, root: Path) -> None:
    with quarantine.watch([(str(root), NAMES)]):
        (root / ".git").mkdir()
    (item,) = quarantine.items()
    root.rmdir()
    with pytest.raises(Unavailable, match="cannot be restored"):
        quarantine.restore(item.id)
    assert quarantine.items() == [item]


def test_it_is_deleted_for_good(quarantine: Quarantine, root: Path) -> None:
    with quarantine.watch([(str(root), NAMES)]):
        plant(root, {".git/config": "x"})
    (item,) = quarantine.items()
    assert quarantine.delete(item.id) == item
    assert quarantine.items() == []


@pytest.mark.parametrize("id", ["", "none", "../sandbox"])
def test_an_unknown_id_is_nothing(quarantine: Quarantine, root: Path, id: str) -> None:
    with pytest.raises(NotFound, match="`marid quarantine` lists the IDs"):
        quarantine.restore(id)


def test_a_folder_that_its_owner_may_not_write_is_moved_too(quarantine: Quarantine, root: Path) -> None:
    with quarantine.watch([(str(root), NAMES)]):
        (root / ".git").mkdir(mode=0)
    assert list(root.iterdir()) == []
    assert len(quarantine.items()) == 1


def test_another_file_system_is_no_obstacle(other_disk: Path, home: Path, quarantine: Quarantine) -> None:
    home.mkdir()
    if os.stat(other_disk).st_dev == os.stat(home).st_dev:
        pytest.skip("there is one file system only")
    with quarantine.watch([(str(other_disk), (".git", ".mcp.json", ".vscode"))]) as record:
        plant(other_disk, {".git/config": "x", ".mcp.json": "y"})
        (other_disk / ".git" / "link").symlink_to("/etc")
        os.mkfifo(other_disk / ".git" / "pipe")
        os.mkfifo(other_disk / ".vscode")
    assert list(other_disk.iterdir()) == []
    assert len(record.notes) == 3
    folder, file = quarantine.items()
    assert sorted(os.listdir(home / "quarantine" / folder.id / "content")) == ["config", "link"]
    assert stat.S_ISLNK(os.lstat(home / "quarantine" / folder.id / "content" / "link").st_mode)
    quarantine.restore(file.id)
    assert (other_disk / ".mcp.json").read_text() == "y"


def test_without_a_place_for_it_the_note_says_so(quarantine: Quarantine, home: Path, root: Path) -> None:
    home.mkdir()
    (home / "quarantine").touch()
    with quarantine.watch([(str(root), NAMES)]) as record:
        (root / ".git").mkdir()
    (note,) = record.notes
    assert "could not be moved away" in note


def test_after_a_kill_the_next_start_moves_it_away(quarantine: Quarantine, home: Path, root: Path) -> None:
    left_by_a_kill(quarantine, home, root)
    (root / ".git").mkdir()
    (note,) = quarantine.recover()
    assert f"{root}/.git" in note
    assert list(root.iterdir()) == []
    assert list((home / "sandbox").iterdir()) == []
    assert quarantine.recover() == []


def test_or_the_next_command(quarantine: Quarantine, home: Path, root: Path, tmp_path: Path) -> None:
    left_by_a_kill(quarantine, home, root)
    (root / ".git").mkdir()
    with quarantine.watch([(str(tmp_path), NAMES)]) as record:
        assert list(root.iterdir()) == []
    assert len(record.notes) == 1


def test_a_command_that_still_runs_is_left_alone(quarantine: Quarantine, root: Path) -> None:
    with quarantine.watch([(str(root), NAMES)]) as record:
        (root / ".git").mkdir()
        assert quarantine.recover() == []
        assert (root / ".git").exists()
    assert len(record.notes) == 1


def test_what_one_command_creates_while_another_starts_is_moved_by_the_last(quarantine: Quarantine, root: Path) -> None:
    first, second = (quarantine.watch([(str(root), NAMES)]) for _ in range(2))
    first.__enter__()
    (root / ".git").mkdir()
    record = second.__enter__()
    first.__exit__(None, None, None)
    assert list(root.iterdir()) == []
    (root / ".git").mkdir()
    second.__exit__(None, None, None)
    assert list(root.iterdir()) == []
    assert len(record.notes) == 1


def test_a_folder_that_was_exchanged_is_left_alone(quarantine: Quarantine, root: Path, tmp_path: Path) -> None:
    """Neither what a link in its place leads to, nor another folder by its name."""
    plant(tmp_path, {"elsewhere/.git/config": "mine"})
    with quarantine.watch([(str(root), NAMES)]):
        root.rename(tmp_path / "old")
        root.symlink_to(tmp_path / "elsewhere")
    with quarantine.watch([(str(tmp_path / "old"), NAMES)]):
        (tmp_path / "old").rename(tmp_path / "older")
        (tmp_path / "elsewhere").rename(tmp_path / "old")
    assert (tmp_path / "old" / ".git" / "config").read_text() == "mine"
    assert quarantine.items() == []


@pytest.mark.parametrize("content", [b"", b"[[", b"3", b'[["a"]]'])
def test_a_record_that_was_never_finished_says_nothing(quarantine: Quarantine, home: Path, content: bytes) -> None:
    plant(home, {"sandbox/left": content.decode()})
    assert quarantine.recover() == []
    assert list((home / "sandbox").iterdir()) == []


@pytest.mark.parametrize("origin", ["", "[]", '{"path": "/x"}', '{"path": "/x", "moved": "never"}'])
def test_what_is_no_item_is_not_listed(quarantine: Quarantine, home: Path, origin: str) -> None:
    plant(home, {"quarantine/one/origin.json": origin, "quarantine/one/content": "", "quarantine/two/content": ""})
    plant(home, {"quarantine/three/origin.json": '{"path": "/x", "moved": 1}'})
    assert quarantine.items() == []


def test_without_a_place_for_records_no_command_starts(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(Unavailable, match="cannot record"),
        Quarantine(str(tmp_path / "file")).watch([(str(root), NAMES)]),
    ):
        pass


def test_where_nothing_ever_ran_there_is_nothing(quarantine: Quarantine, home: Path) -> None:
    assert quarantine.recover() == []
    assert quarantine.items() == []
    assert not home.exists()
