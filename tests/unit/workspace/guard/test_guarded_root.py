import os
from pathlib import Path

import pytest

from fakes.files import both_openers
from fakes.trees import plant
from marid.core.errors import NotFound, Refused
from marid.workspace.guard.guarded_path import GuardedRoot
from marid.workspace.guard.openat import OpenBeneath
from marid.workspace.guard.protected_files import ProtectedFiles


def read(tree: GuardedRoot, name: str, *, links: bool = True) -> bytes:
    with os.fdopen(tree.open(name, links=links), "rb") as file:
        return file.read()


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("a.txt", "a.txt"),
        ("./a//b/../c", "a/c"),
        (".", "."),
        ("a/..", "."),
        ("..", None),
        ("../x", None),
        ("a/../../x", None),
        ("..a", "..a"),
        ("....//x", "..../x"),
    ],
)
def test_a_relative_name_is_made_plain_without_looking(tmp_path: Path, raw: str, name: str | None) -> None:
    assert GuardedRoot(str(tmp_path)).relative_name(raw) == name


def test_an_absolute_path_is_taken_by_either_spelling_of_the_root(tmp_path: Path) -> None:
    plant(tmp_path, {"real/a.txt": "a", "real_evil/a.txt": ""})
    (tmp_path / "link").symlink_to("real")
    tree = GuardedRoot(f"{tmp_path}/link/")
    real = os.path.realpath(tmp_path / "real")
    assert tree.relative_name(f"{real}/a.txt") == "a.txt"
    assert tree.relative_name(f"//{real}/./a.txt/") == "a.txt"
    assert tree.relative_name(f"{tmp_path}/link/a.txt") == "a.txt"
    assert {tree.relative_name(f"{real}{end}") for end in ("", "/", "//", "/.", "/./")} == {"."}
    assert tree.relative_name(f"{real}_evil/a.txt") is None
    assert tree.relative_name(f"{real}/../real_evil/a.txt") is None
    assert tree.relative_name("/") is None


def test_the_whole_machine_can_be_a_root() -> None:
    assert GuardedRoot("/").relative_name("/etc/hostname") == "etc/hostname"
    assert GuardedRoot("/").relative_name("/") == "."


@pytest.mark.parametrize("name", ["history.toml", "a/X_History.TOML", "home", "home/x", "HOME/x"])
def test_withheld_names_are_permitted_to_nobody(tmp_path: Path, name: str) -> None:
    tree = GuardedRoot(str(tmp_path), protected_files=ProtectedFiles(str(tmp_path / "home")))
    with pytest.raises(Refused, match="protected"):
        tree.check_allowed(name)


def test_a_root_in_the_home_is_withheld_whole(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        GuardedRoot(str(tmp_path), protected_files=ProtectedFiles(str(tmp_path))).check_allowed(".")


@pytest.mark.parametrize("name", [".git", ".git/config", "a/.GIT/hooks/x", "git~1/config", ".git./x"])
def test_the_git_directory_may_be_read_but_not_written(tmp_path: Path, name: str) -> None:
    tree = GuardedRoot(str(tmp_path))
    tree.check_allowed(name)
    with pytest.raises(Refused, match="only git may write"):
        tree.check_allowed(name, write=True)


@both_openers
def test_links_in_the_root_are_followed_only_when_asked_and_only_inside(tmp_path: Path, opening: OpenBeneath) -> None:
    plant(tmp_path, {"r/a.txt": "a", "r/history.toml": "h", "r/home/x": "h", "out.txt": "canary"})
    for link, target in {"in": "a.txt", "out": "../out.txt", "old": "history.toml", "mine": "home", "abs": "/"}.items():
        (tmp_path / "r" / link).symlink_to(target)
    withheld = ProtectedFiles(str(tmp_path / "r/home"))
    tree = GuardedRoot(str(tmp_path / "r"), protected_files=withheld, opening=opening)
    assert read(tree, "in") == b"a"
    with pytest.raises(OSError, match="symbolic"):
        read(tree, "in", links=False)
    for name in ("out", "abs/etc/hostname"):
        with pytest.raises(OSError, match="cross-device"):
            read(tree, name)
    for name in ("old", "mine/x", "history.toml"):
        with pytest.raises(Refused):
            read(tree, name)


@both_openers
def test_a_root_that_is_gone_or_replaced_is_not_served_any_more(tmp_path: Path, opening: OpenBeneath) -> None:
    plant(tmp_path, {"r/a.txt": "a"})
    tree = GuardedRoot(str(tmp_path / "r"), opening=opening)
    (tmp_path / "r").rename(tmp_path / "moved")
    with pytest.raises(Refused, match="folder is gone"):
        tree.open("a.txt")
    plant(tmp_path, {"r/a.txt": "other"})
    with pytest.raises(Refused, match="folder is gone"):
        tree.open("a.txt")
    with pytest.raises(Refused, match="folder is gone"):
        tree.open_root()


def test_turning_the_link_by_which_the_root_was_given_has_no_effect(tmp_path: Path) -> None:
    plant(tmp_path, {"one/a.txt": "one", "two/a.txt": "two"})
    (tmp_path / "link").symlink_to("one")
    tree = GuardedRoot(str(tmp_path / "link"))
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("two")
    assert read(tree, "a.txt") == b"one"


def test_a_closed_tree_opens_nothing(tmp_path: Path) -> None:
    tree = GuardedRoot(str(tmp_path))
    tree.close()
    tree.close()
    with pytest.raises(Refused, match="gone"):
        tree.open(".")


def test_a_tree_that_nobody_keeps_gives_its_descriptor_back(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        GuardedRoot(str(tmp_path))
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_what_is_no_folder_is_no_root(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": ""})
    for name in ("a.txt", "nothing"):
        with pytest.raises(NotFound, match=name):
            GuardedRoot(str(tmp_path / name))


@pytest.mark.parametrize("name", ["hooks", "hooks/deep"])
def test_a_root_in_the_git_directory_is_not_written(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git" / name).mkdir(parents=True)
    tree = GuardedRoot(f"{tmp_path}/.git/{name}")
    tree.check_allowed("pre-commit")
    with pytest.raises(Refused, match="only git may write"):
        tree.check_allowed("pre-commit", write=True)
