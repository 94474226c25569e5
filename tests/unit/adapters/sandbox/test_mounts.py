import os
import sys
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.adapters.sandbox.mounts import HostLayout, is_within, program_args, python_prefixes, system_args


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
