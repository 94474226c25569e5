from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from fakes.trees import plant
from marid.core.errors import BadInput, OutsideRoots, Refused
from marid.toolkit.handles import FileRef, FolderRef, PathHandle, PathRef, TargetRef
from marid.workspace.guard.api import PathScope

HANDLES = (FileRef, TargetRef, FolderRef, PathRef)


def parsed(kind: type[PathHandle], raw: object, territory: PathScope) -> PathHandle:
    return TypeAdapter(kind).validate_python(raw, context=territory)


def target(top: Path, raw: str) -> TargetRef:
    made = parsed(TargetRef, raw, PathScope([str(top)]))
    assert isinstance(made, TargetRef)
    return made


@pytest.mark.parametrize("kind", HANDLES)
def test_a_path_becomes_a_handle_while_it_is_parsed(tmp_path: Path, kind: type[PathHandle]) -> None:
    handle = parsed(kind, "./a/../b.txt", PathScope([str(tmp_path)]))
    assert type(handle) is kind
    assert (handle.name, handle.raw, handle.path.given) == ("b.txt", "./a/../b.txt", "./a/../b.txt")


@pytest.mark.parametrize("kind", HANDLES)
def test_what_leads_outside_never_becomes_one(tmp_path: Path, kind: type[PathHandle]) -> None:
    territory = PathScope([str(tmp_path)])
    for raw, error in {
        "../x": OutsideRoots,
        "/etc/passwd": OutsideRoots,
        "": BadInput,
        "history.toml": Refused,
    }.items():
        with pytest.raises(error):
            parsed(kind, raw, territory)
    with pytest.raises(ValidationError):
        parsed(kind, 3, territory)


def test_a_path_without_a_root_is_a_bug() -> None:
    with pytest.raises(TypeError, match="no root"):
        TypeAdapter(FileRef).validate_python("a")


def test_a_file_is_read_and_a_folder_looked_into(tmp_path: Path) -> None:
    plant(tmp_path, {"d/a.txt": "text"})
    territory = PathScope([str(tmp_path)])
    path, folder = parsed(PathRef, "d/a.txt", territory), parsed(PathRef, "d", territory)
    assert isinstance(path, PathRef)
    assert isinstance(folder, PathRef)
    assert (path.read(), path.is_folder(), folder.is_folder()) == (b"text", False, True)
    assert [entry.name for entry in folder.entries()] == ["a.txt"]
    assert [found.names for found in folder.walk(ignored=True, hidden=False)] == [["a.txt"]]


def test_the_git_directory_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="only git may write"):
        target(tmp_path, "sub/.GIT/config")
    assert parsed(FileRef, ".git/config", PathScope([str(tmp_path)])).name == ".git/config"


def test_a_plan_that_could_not_be_carried_out_is_not_made(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "a", "r/d/": "", "out/": "", "r/bare/HEAD": "", "r/bare/objects/": "", "r/bare/refs/": ""})
    (tmp_path / "r/link").symlink_to("a")
    (tmp_path / "r/away").symlink_to("../out")
    for raw, error in {
        "link": Refused,
        "away/x": Refused,
        "bare/config": Refused,
        "d": BadInput,
        "a/x": BadInput,
    }.items():
        with pytest.raises(error):
            target(tmp_path / "r", raw).change(None, b"")
