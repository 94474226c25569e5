import os
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.core.errors import Unavailable
from marid.workspace.journal import FOLDER, Journal, Line, drop, left_behind

LINE = Line("/r", "a", (1, 2), "\udcff.txt", ".marid-x-0.tmp", "", "", "ff")


def test_a_journal_in_use_is_nobody_elses(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), "x", [LINE])
    assert left_behind(str(tmp_path)) == []
    journal.close(done=True)
    assert os.listdir(tmp_path / FOLDER) == []


def test_one_that_was_left_is_found_with_all_it_says(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), "x", [LINE, LINE])
    journal.close(done=False)
    (left,) = left_behind(str(tmp_path))
    assert (left.lines, left.ready) == ((LINE, LINE), False)
    assert left_behind(str(tmp_path)) == []  # it is held
    drop(left, done=False)
    (left,) = left_behind(str(tmp_path))
    drop(left, done=True)
    assert left_behind(str(tmp_path)) == []


def test_one_that_was_ready_says_so(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), "x", [LINE])
    journal.ready()
    journal.close(done=False)
    (left,) = left_behind(str(tmp_path))
    assert left.ready
    drop(left, done=True)


@pytest.mark.parametrize("text", [b"", b"[[", b'[["/r"'])
def test_one_that_was_cut_while_it_was_written_names_no_file(tmp_path: Path, text: bytes) -> None:
    plant(tmp_path, {f"{FOLDER}/x.json": text, f"{FOLDER}/note.txt": "not one"})
    (left,) = left_behind(str(tmp_path))
    assert (left.lines, left.ready) == ((), False)
    drop(left, done=True)


def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path) -> None:
    plant(tmp_path, {f"{FOLDER}/": "", "x": "[]\nready\n"})
    (tmp_path / FOLDER / "link.json").symlink_to("../x")
    assert left_behind(str(tmp_path)) == []


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    plant(tmp_path, {"home": "a file"})
    with pytest.raises(Unavailable, match="the home cannot be written"):
        Journal(str(tmp_path / "home"), "x", [LINE])


def test_a_journal_that_cannot_be_written_down_leaves_nothing(tmp_path: Path) -> None:
    Journal(str(tmp_path), "x", [LINE]).close(done=False)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Unavailable, match="exists"):
        Journal(str(tmp_path), "x", [LINE])
    with pytest.raises(TypeError):
        Journal(str(tmp_path), "y", [LINE._replace(root=b"/r")])
    assert len(os.listdir("/proc/self/fd")) == before
    assert os.listdir(tmp_path / FOLDER) == ["x.json"]
