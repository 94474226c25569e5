import os
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.core.errors import BadInput, MaridError, NotFound, Refused
from marid.workspace.guard.guarded_access import GuardedAccess, follow_links
from marid.workspace.guard.path_scope import PathScope
from marid.workspace.read import FileReader, measure_files
from marid.workspace.walk import Folder, SelectionRules, Walker


@pytest.fixture
def scope(tmp_path: Path) -> PathScope:
    plant(tmp_path, {"r/src/a.py": "inside", "r/src/history.toml": "canary", "r/home/key": "canary", "out/x": "canary"})
    (tmp_path / "r" / "way").symlink_to("src")
    (tmp_path / "r" / "gone").symlink_to("../out")
    os.link(tmp_path / "r" / "src" / "history.toml", tmp_path / "r" / "src" / "other")
    return PathScope([str(tmp_path / "r")], home=str(tmp_path / "r" / "home"))


def test_a_link_inside_is_followed_to_its_real_name(scope: PathScope) -> None:
    folder = follow_links(scope.resolve("way"))
    assert (folder.name, folder.given) == ("src", "way")
    assert follow_links(scope.resolve("."), "way/a.py").name == "src/a.py"
    assert follow_links(folder, f"{folder.root.path}/src/a.py").name == "src/a.py"


@pytest.mark.parametrize(
    ("below", "error"),
    [("gone", Refused), ("gone/x", Refused), ("..", Refused), ("home", Refused), ("src/history.toml", Refused),
     ("nope", NotFound), ("a\0", BadInput)],
)  # fmt: skip
def test_what_a_caller_may_not_read_is_an_error(scope: PathScope, below: str, error: type[MaridError]) -> None:
    with pytest.raises(error):
        follow_links(scope.resolve("."), below)


def test_a_walk_and_a_reader_leave_out_what_is_protected(scope: PathScope, tmp_path: Path) -> None:
    access = GuardedAccess(scope.resolve("."))
    folders = list(Walker(access.top, SelectionRules(), access=access).walk())
    assert folders == [Folder("src", ["a.py", "other"])]
    assert [file.path for file in measure_files(access.top, folders, access)] == ["src/a.py", "src/other"]
    problems: list[tuple[str, str]] = []
    reader = FileReader(access.top, lambda path, why: problems.append((path, why)), access=access)
    assert [content.data for content in reader.read(folders)] == [b"inside"]
    assert problems == [("src/other", "protected: no tool may use it")]
    with pytest.raises(Refused, match="leads elsewhere now"):
        access.open(str(tmp_path / "out"))
