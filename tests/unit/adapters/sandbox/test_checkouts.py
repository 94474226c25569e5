import os
import subprocess
from pathlib import Path

from fakes.trees import plant
from marid.adapters.sandbox.checkouts import find_nested_checkouts, linked_git_folders


def test_a_plain_repository_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert list(linked_git_folders(str(tmp_path))) == []


def test_no_repository_leads_nowhere(tmp_path: Path) -> None:
    assert list(linked_git_folders(str(tmp_path))) == []


def test_a_file_that_says_something_else_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("hello")
    assert list(linked_git_folders(str(tmp_path))) == []


def test_a_worktree_leads_to_its_own_folder_and_the_shared_one(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    repository = os.path.realpath(main / ".git")
    assert list(linked_git_folders(str(tree))) == [(f"{repository}/worktrees/tree", True), (repository, True)]


def test_a_folder_that_does_not_know_the_checkout_is_not_trusted(tmp_path: Path) -> None:
    plant(tmp_path, {"root/.git": "gitdir: ../keys\n", "keys/gitdir": "/elsewhere/.git\n", "keys/commondir": "..\n"})
    assert [known for _, known in linked_git_folders(str(tmp_path / "root"))] == [False, False]


def test_a_shared_folder_must_be_where_git_keeps_it(tmp_path: Path) -> None:
    """A project can bring a folder that names the project itself, but not put it into another repository."""
    root = tmp_path / "root"
    plant(root, {".git": "gitdir: fake\n", "fake/gitdir": f"{root}/.git\n", "fake/commondir": f"{tmp_path}/keys\n"})
    assert list(linked_git_folders(str(root))) == [
        (os.path.realpath(root / "fake"), True),
        (os.path.realpath(tmp_path / "keys"), False),
    ]


def below(root: Path, most: int = 100) -> list[str]:
    return [os.path.relpath(path, root) for path in find_nested_checkouts(str(root), most)]


def test_checkouts_right_below_are_found(tmp_path: Path) -> None:
    plant(tmp_path, {"a/.git": "gitdir: x\n", "c/.git/HEAD": "", ".hidden/.git": "", "plain/file": "", ".git/HEAD": ""})
    (tmp_path / "link").symlink_to(tmp_path / "c")
    assert below(tmp_path) == ["a/.git", "c/.git"]


def test_checkouts_further_down_are_found_but_not_those_of_tools(tmp_path: Path) -> None:
    plant(tmp_path, {"org/repo/.git/HEAD": "", "a/b/c/d/.git": "", "node_modules/x/.git": "", "z/.git": ""})
    assert below(tmp_path) == ["z/.git", "org/repo/.git", "a/b/c/d/.git"]


def test_submodules_are_found_wherever_they_are(tmp_path: Path) -> None:
    modules = '[submodule "x"]\n\tpath = libs/deep/x\n\turl = y\n[submodule "z"]\npath="a b"\n'
    plant(tmp_path, {".gitmodules": modules, "libs/deep/x/.git": "", "a b/.git": ""})
    assert below(tmp_path) == ["libs/deep/x/.git", "a b/.git"]


def test_a_list_of_submodules_leads_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    plant(tmp_path, {"other/.git": "", "root/.git": ""})
    plant(root, {".gitmodules": f"path = ../other\npath = {tmp_path}/other\npath = .\npath = gone\n"})
    assert below(root) == []


def test_many_are_not_all_looked_at(tmp_path: Path) -> None:
    plant(tmp_path, {f"{number}/.git": "" for number in range(9)})
    assert len(below(tmp_path, most=4)) == 4


def test_a_folder_that_has_gone_is_empty(tmp_path: Path) -> None:
    assert below(tmp_path / "gone") == []
