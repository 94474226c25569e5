import os
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.core.errors import Unavailable
from marid.workspace.write.commit_journal import (
    JOURNAL_FOLDER,
    CommitJournal,
    JournalLine,
    find_abandoned,
    release_journal,
)

LINE = JournalLine("/r", "a", (1, 2), "\udcff.txt", ".marid-x-0.tmp", "", "", "ff")


def test_a_journal_in_use_is_nobody_elses(tmp_path: Path) -> None:
    journal = CommitJournal(str(tmp_path), "x", [LINE])
    assert find_abandoned(str(tmp_path)) == []
    journal.close(done=True)
    assert os.listdir(tmp_path / JOURNAL_FOLDER) == []


def test_one_that_was_left_is_found_with_all_it_says(tmp_path: Path) -> None:
    journal = CommitJournal(str(tmp_path), "x", [LINE, LINE])
    journal.close(done=False)
    (left,) = find_abandoned(str(tmp_path))
    assert (left.lines, left.ready) == ((LINE, LINE), False)
    assert find_abandoned(str(tmp_path)) == []  # it is held
    release_journal(left, done=False)
    (left,) = find_abandoned(str(tmp_path))
    release_journal(left, done=True)
    assert find_abandoned(str(tmp_path)) == []


def test_one_that_was_ready_says_so(tmp_path: Path) -> None:
    journal = CommitJournal(str(tmp_path), "x", [LINE])
    journal.mark_ready()
    journal.close(done=False)
    (left,) = find_abandoned(str(tmp_path))
    assert left.ready
    release_journal(left, done=True)


@pytest.mark.parametrize("text", [b"", b"[[", b'[["/r"'])
def test_one_that_was_cut_while_it_was_written_names_no_file(tmp_path: Path, text: bytes) -> None:
    plant(tmp_path, {f"{JOURNAL_FOLDER}/x.json": text, f"{JOURNAL_FOLDER}/note.txt": "not one"})
    (left,) = find_abandoned(str(tmp_path))
    assert (left.lines, left.ready) == ((), False)
    release_journal(left, done=True)


def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path) -> None:
    plant(tmp_path, {f"{JOURNAL_FOLDER}/": "", "x": "[]\nready\n"})
    (tmp_path / JOURNAL_FOLDER / "link.json").symlink_to("../x")
    assert find_abandoned(str(tmp_path)) == []


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    plant(tmp_path, {"home": "a file"})
    with pytest.raises(Unavailable, match="cannot write to the home"):
        CommitJournal(str(tmp_path / "home"), "x", [LINE])


def test_a_journal_that_cannot_be_written_down_leaves_nothing(tmp_path: Path) -> None:
    CommitJournal(str(tmp_path), "x", [LINE]).close(done=False)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Unavailable, match="exists"):
        CommitJournal(str(tmp_path), "x", [LINE])
    with pytest.raises(TypeError):
        CommitJournal(str(tmp_path), "y", [LINE._replace(root=b"/r")])
    assert len(os.listdir("/proc/self/fd")) == before
    assert os.listdir(tmp_path / JOURNAL_FOLDER) == ["x.json"]
