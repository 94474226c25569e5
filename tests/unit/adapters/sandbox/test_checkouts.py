import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.adapters.sandbox.checkouts import find_nested_checkouts, linked_git_folders
from marid.adapters.sandbox.mounts import HostLayout, is_within, program_args, python_prefixes, system_args


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


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def machine(home: Path, *folders: Path | str, prefix: str = "/usr") -> HostLayout:
    return HostLayout(
        home=str(home), state=str(home / ".marid"), folders=tuple(str(folder) for folder in folders), prefix=prefix
    )


def shown(made: HostLayout, *roots: Path) -> list[str]:
    args = program_args(made, [str(root) for root in roots])
    assert args[::3] == ["--ro-bind-try"] * (len(args) // 3)
    assert args[1::3] == args[2::3]
    return args[1::3]


def test_the_system_is_there_without_secrets_and_without_anybodys_files() -> None:
    args = system_args(network=False)
    assert "/usr" in args
    assert "/etc/passwd" in args
    assert not {"/etc/shadow", "/etc/ssl", "/etc/ssl/private", "/etc", "/var", "/sys", "/etc/resolv.conf"} & set(args)


def test_names_are_resolved_only_with_a_network() -> None:
    assert "/etc/resolv.conf" in system_args(network=True)


def test_folders_of_the_path_are_shown(home: Path, tmp_path: Path) -> None:
    tools = tmp_path / "opt" / "bin"
    tools.mkdir(parents=True)
    assert shown(machine(home, tools, "/usr/bin", tmp_path / "gone")) == [str(tools)]


def test_a_folder_that_holds_a_home_or_a_root_is_not_shown(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "work" / "root"
    plant(root, {"bin/x": ""})
    (home / ".marid").mkdir()
    made = machine(home, "/", tmp_path, home, home / ".marid", tmp_path / "work", root, root / "bin")
    assert shown(made, root) == []


def test_a_folder_of_shims_is_not_shown(home: Path) -> None:
    (home / ".tool" / "shims").mkdir(parents=True)
    assert shown(machine(home, home / ".tool" / "shims")) == []


def test_modules_of_node_come_with_its_programs(home: Path) -> None:
    plant(home, {"node/bin/npm": "", "node/lib/node_modules/npm/x": ""})
    found = shown(machine(home, home / "node" / "bin"))
    assert found == [str(home / "node" / "bin"), str(home / "node" / "lib" / "node_modules")]


def test_the_running_python_is_shown_whole(home: Path) -> None:
    prefix = os.path.realpath(sys.base_prefix)
    expected = [] if is_within(prefix, "/usr") else [prefix]
    assert shown(machine(home, prefix=sys.base_prefix)) == expected


def test_the_python_of_a_virtual_environment_is_shown_whole(home: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"py/bin/python3": "", "py/lib/python3.99/os.py": "", "root/.venv/bin/": ""})
    (tmp_path / "root" / ".venv" / "bin" / "python").symlink_to(tmp_path / "py" / "bin" / "python3")
    assert list(python_prefixes("/usr", [str(tmp_path / "root")])) == ["/usr", str(tmp_path / "py")]


def test_a_virtual_environment_that_leads_to_anything_else_opens_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"keys/deep/id": "", "keys/lib/python3.1/x": "", "root/venv/bin/": "", "root/.venv/bin/": ""})
    (tmp_path / "root" / "venv" / "bin" / "python").symlink_to(tmp_path / "keys" / "deep" / "id")
    (tmp_path / "root" / ".venv" / "bin" / "python").symlink_to(tmp_path / "root" / "venv" / "x" / "y")
    assert list(python_prefixes("/usr", [str(tmp_path / "root")])) == ["/usr"]


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/a/b", False), ("/a", "/", True)],
)
def test_within_goes_by_whole_names(path: str, folder: str, *, inside: bool) -> None:
    assert is_within(path, folder) is inside
