"""Paths that a glob matches, in a real tree."""

from pathlib import Path

from marid.workspace.find.path_pattern import parse_path_pattern
from marid.workspace.find.path_search import FoundPaths, PathSearchLimits, find_paths
from marid.workspace.guard.api import PathScope


def found(
    folder: Path, pattern: str, paths: int = 100, seconds: float = 60.0, *, files_only: bool = False
) -> FoundPaths:
    walk = PathScope([str(folder)]).resolve(".").walk()
    return find_paths(walk, parse_path_pattern(pattern), PathSearchLimits(paths, seconds), files_only=files_only)


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_files_and_folders_are_found(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "src/b/c.py", "d.py")
    assert found(tmp_path, "**/*.py").paths == ["d.py", "src/a.py", "src/b/c.py"]
    assert found(tmp_path, "*").paths == ["d.py", "src/"]
    assert found(tmp_path, "*", files_only=True).paths == ["d.py"]
    assert found(tmp_path, "**/").paths == ["src/", "src/b/"]


def test_folders_that_cannot_match_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "src/a/x.py", "lib/a/x.py", "lib/b/c/x.py")
    assert found(tmp_path, "lib/*/x.py").paths == ["lib/a/x.py"]


def test_there_are_no_more_than_wanted(tmp_path: Path) -> None:
    make(tmp_path, "a", "b", "c")
    assert found(tmp_path, "*", 2) == FoundPaths(["a", "b"], has_more=True)
    assert found(tmp_path, "*", 3) == FoundPaths(["a", "b", "c"])


def test_it_ends_when_time_is_up(tmp_path: Path) -> None:
    make(tmp_path, "a")
    assert found(tmp_path, "*", seconds=-1) == FoundPaths([], timed_out=True)
