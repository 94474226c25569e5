from pathlib import Path

import pytest

from fakes.trees import plant_names
from marid.workspace.root import MARKERS, project_root


@pytest.mark.parametrize("marker", MARKERS)
def test_the_nearest_folder_that_version_control_marks_is_the_project(marker: str, tmp_path: Path) -> None:
    plant_names(tmp_path, f"{marker}/x", f"inner/{marker}/x", "inner/deep/a.py", "other/deep/b.py")
    assert project_root(str(tmp_path / "inner" / "deep")) == str(tmp_path / "inner")
    assert project_root(str(tmp_path / "other" / "deep")) == str(tmp_path)


def test_a_worktree_is_marked_by_a_file(tmp_path: Path) -> None:
    plant_names(tmp_path, ".git", "deep/a.py")
    assert project_root(str(tmp_path / "deep")) == str(tmp_path)


def test_of_folders_kept_by_cvs_the_highest_is_the_project(tmp_path: Path) -> None:
    plant_names(tmp_path, "p/CVS/Root", "p/src/CVS/Root", "p/src/lib/CVS/Root", "p/src/new/a.c")
    assert project_root(str(tmp_path / "p" / "src" / "lib")) == str(tmp_path / "p")
    assert project_root(str(tmp_path / "p" / "src" / "new")) == str(tmp_path / "p")


def test_a_folder_that_nothing_marks_is_its_own_project(tmp_path: Path) -> None:
    plant_names(tmp_path, "deep/a.py")
    assert project_root(str(tmp_path / "deep")) == str(tmp_path / "deep")
