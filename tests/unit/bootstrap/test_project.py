import os
from pathlib import Path

import pytest

from fakes.trees import plant, plant_names
from marid.bootstrap.environment import MARKERS, find_project_root

FOLDERS = [".git", ".hg", ".svn", ".bzr", ".pijul", ".jj"]
FILES = [".git", ".fslckout", "_FOSSIL_"]


def test_eight_markers_are_known() -> None:
    assert {name for name, _ in MARKERS} == {*FOLDERS, *FILES}


@pytest.mark.parametrize("marker", [*(f"{name}/" for name in FOLDERS), *FILES])
def test_the_nearest_folder_that_version_control_marks_is_the_project(marker: str, tmp_path: Path) -> None:
    plant(tmp_path, {marker: "", f"inner/{marker}": "", "inner/deep/a.py": "", "other/deep/b.py": ""})
    assert find_project_root(str(tmp_path / "inner" / "deep")) == str(tmp_path / "inner")
    assert find_project_root(str(tmp_path / "inner")) == str(tmp_path / "inner")
    assert find_project_root(str(tmp_path / "other" / "deep")) == str(tmp_path)


@pytest.mark.parametrize("marker", [*(name for name in FOLDERS if name != ".git"), ".fslckout/", "_FOSSIL_/"])
def test_a_marker_of_the_wrong_kind_marks_nothing(marker: str, tmp_path: Path) -> None:
    plant(tmp_path, {".git/": "", f"inner/{marker}": "", "inner/deep/": ""})
    assert find_project_root(str(tmp_path / "inner" / "deep")) == str(tmp_path)


def test_a_marker_may_be_a_link_but_not_a_pipe_or_a_broken_link(tmp_path: Path) -> None:
    plant(tmp_path, {".hg/": "", "pipe/": "", "link/": ""})
    os.mkfifo(tmp_path / "pipe" / ".git")
    (tmp_path / "link" / ".git").symlink_to("gone")
    assert find_project_root(str(tmp_path / "pipe")) == str(tmp_path)
    assert find_project_root(str(tmp_path / "link")) == str(tmp_path)
    plant(tmp_path, {"elsewhere/": "", "p/deep/": ""})
    (tmp_path / "p" / ".git").symlink_to(tmp_path / "elsewhere")
    assert find_project_root(str(tmp_path / "p" / "deep")) == str(tmp_path / "p")


def test_the_nearest_wins_whichever_system_it_is_of(tmp_path: Path) -> None:
    plant(tmp_path, {".git/": "", "inner/.jj/": "", "inner/deep/_FOSSIL_": "", "inner/deep/er/": ""})
    assert find_project_root(str(tmp_path / "inner" / "deep" / "er")) == str(tmp_path / "inner" / "deep")
    assert find_project_root(str(tmp_path / "inner")) == str(tmp_path / "inner")


def test_of_folders_kept_by_cvs_the_highest_of_an_unbroken_row_is_the_project(tmp_path: Path) -> None:
    plant_names(tmp_path, "CVS/Root", "gap/p/CVS/Root", "gap/p/src/CVS/Root", "gap/p/src/lib/CVS/Root")
    assert find_project_root(str(tmp_path / "gap" / "p" / "src" / "lib")) == str(tmp_path / "gap" / "p")


def test_cvs_counts_only_in_an_unbroken_chain_and_without_another_marker(tmp_path: Path) -> None:
    plant_names(tmp_path, "p/CVS/Root", "p/new/a.c", "q/CVS")
    assert find_project_root(str(tmp_path / "p" / "new")) == str(tmp_path / "p" / "new")
    assert find_project_root(str(tmp_path / "q")) == str(tmp_path / "q")
    plant(tmp_path, {".svn/": "", "p/CVS/Root": "", "p/src/CVS/Root": ""})
    assert find_project_root(str(tmp_path / "p" / "src")) == str(tmp_path)


def test_a_folder_that_nothing_marks_is_its_own_project(tmp_path: Path) -> None:
    plant_names(tmp_path, "deep/a.py")
    assert find_project_root(str(tmp_path / "deep")) == str(tmp_path / "deep")


def test_the_top_of_the_file_system_is_its_own_project() -> None:
    assert find_project_root("/") == "/"
