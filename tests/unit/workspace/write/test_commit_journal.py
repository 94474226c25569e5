import os
from pathlib import Path

import pytest

from fakes.files import file_contents
from fakes.trees import plant
from marid.core.errors import Unavailable
from marid.text.content_hash import sha256_hex
from marid.workspace.write.commit_journal import (
    JOURNAL_FOLDER,
    CommitJournal,
    JournalLine,
    find_abandoned,
    recover_commits,
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


def line(top: Path, name: str, before: bytes | None, after: bytes, *, number: int = 0) -> JournalLine:
    folder, _, last = name.rpartition("/")
    about = os.stat(top / folder)
    temp = f".marid-x-{number}"
    return JournalLine(
        root=str(top),
        folder=folder,
        identity=(about.st_dev, about.st_ino),
        name=last,
        temp=f"{temp}.tmp",
        backup="" if before is None else f"{temp}.old.tmp",
        before="" if before is None else sha256_hex(before),
        after=sha256_hex(after),
    )


def left(tmp_path: Path, *lines: JournalLine, ready: bool) -> str:
    """A home in which a commit of these lines was killed."""
    home = str(tmp_path / "home")
    journal = CommitJournal(home, "x", lines)
    if ready:
        journal.mark_ready()
    journal.close(done=False)
    return home


def test_a_commit_that_was_killed_while_it_prepared_leaves_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"r/d/a": "old", "r/d/.marid-x-0.tmp": "ne", "r/d/.marid-x-0.old.tmp": "o"})
    home = left(tmp_path, line(tmp_path / "r", "d/a", b"old", b"new"), ready=False)
    assert recover_commits(home) == 1
    assert file_contents(tmp_path / "r") == {"d/a": b"old"}
    assert file_contents(home) == {"edits/": b""}
    assert recover_commits(home) == 0


def test_a_commit_that_had_begun_is_finished(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "one", "r/.marid-x-0.old.tmp": "1", "r/b": "2", "r/.marid-x-1.tmp": "two"})
    plant(tmp_path, {"r/.marid-x-1.old.tmp": "2", "r/.marid-x-2.tmp": "three"})
    top = tmp_path / "r"
    lines = (
        line(top, "a", b"1", b"one"),
        line(top, "b", b"2", b"two", number=1),
        line(top, "c", None, b"three", number=2),
    )
    assert recover_commits(left(tmp_path, *lines, ready=True)) == 1
    assert file_contents(top) == {"a": b"one", "b": b"two", "c": b"three"}


def test_a_commit_is_taken_back_where_somebody_went_on_editing(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "one", "r/.marid-x-0.old.tmp": "1", "r/b": "mine", "r/.marid-x-1.tmp": "two"})
    plant(tmp_path, {"r/c": "three"})
    top = tmp_path / "r"
    lines = (
        line(top, "a", b"1", b"one"),
        line(top, "b", b"2", b"two", number=1),
        line(top, "c", None, b"three", number=2),
    )
    assert recover_commits(left(tmp_path, *lines, ready=True)) == 1
    assert file_contents(top) == {"a": b"1", "b": b"mine"}


def test_a_temporary_file_that_is_not_what_was_noted_is_not_put_in_place(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "1", "r/.marid-x-0.tmp": "forged", "r/b": "two"})
    top = tmp_path / "r"
    lines = line(top, "a", b"1", b"one"), line(top, "b", b"2", b"two", number=1)
    assert recover_commits(left(tmp_path, *lines, ready=True)) == 1
    assert file_contents(top) == {"a": b"1", "b": b"two"}


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_is_no_file_any_more_counts_as_changed(tmp_path: Path, kind: str) -> None:
    plant(tmp_path, {"r/b": "two", "r/.marid-x-1.old.tmp": "2", "out": "1"})
    top = tmp_path / "r"
    if kind == "link":
        (top / "a").symlink_to("../out")
    else:
        (top / "a").mkdir()
    lines = line(top, "a", b"1", b"one"), line(top, "b", b"2", b"two", number=1)
    assert recover_commits(left(tmp_path, *lines, ready=True)) == 1
    assert (top / "b").read_bytes() == b"2"
    assert (tmp_path / "out").read_bytes() == b"1"


def test_a_file_that_became_huge_counts_as_changed(tmp_path: Path) -> None:
    plant(tmp_path, {"r/b": "two", "r/.marid-x-1.old.tmp": "2"})
    top = tmp_path / "r"
    with open(top / "a", "wb") as file:
        file.truncate(1 << 40)
    lines = line(top, "a", b"1", b"one"), line(top, "b", b"2", b"two", number=1)
    assert recover_commits(left(tmp_path, *lines, ready=True)) == 1
    assert (top / "b").read_bytes() == b"2"


@pytest.mark.parametrize("change", ["gone", "other", "link", "root"])
def test_a_folder_that_is_another_now_is_left_alone_and_waited_for(tmp_path: Path, change: str) -> None:
    plant(tmp_path, {"r/d/a": "1", "r/d/.marid-x-0.tmp": "one", "r/e/.marid-x-0.tmp": "one", "r/e/a": "1"})
    top = tmp_path / "r"
    home = left(tmp_path, line(top, "d/a", b"1", b"one"), ready=True)
    moved = "moved" if change == "root" else "r/moved"
    (top if change == "root" else top / "d").rename(tmp_path / moved)
    if change == "other":
        (top / "e").rename(top / "d")
    if change == "link":
        (top / "d").symlink_to("moved")
    before = file_contents(tmp_path)
    assert recover_commits(home) == 0
    assert file_contents(tmp_path) == before
    if change in ("gone", "root"):
        (tmp_path / moved).rename(top if change == "root" else top / "d")
        assert recover_commits(home) == 1
        assert (top / "d/a").read_bytes() == b"one"


def test_what_was_only_prepared_in_a_folder_that_is_gone_needs_no_waiting(tmp_path: Path) -> None:
    plant(tmp_path, {"r/d/": ""})
    home = left(tmp_path, line(tmp_path / "r", "d/a", b"1", b"one"), ready=False)
    (tmp_path / "r/d").rmdir()
    assert recover_commits(home) == 1


def test_a_journal_cannot_remove_what_is_not_a_temporary_file_of_ours(tmp_path: Path) -> None:
    plant(tmp_path, {"r/d/a": "1", "r/keep": "x"})
    forged = line(tmp_path / "r", "d/a", b"1", b"one")._replace(temp="../keep", backup="a")
    assert recover_commits(left(tmp_path, forged, ready=False)) == 1
    assert file_contents(tmp_path / "r") == {"d/a": b"1", "keep": b"x"}


def test_a_home_that_is_not_there_has_nothing_to_recover(tmp_path: Path) -> None:
    assert recover_commits(str(tmp_path / "nothing")) == 0
