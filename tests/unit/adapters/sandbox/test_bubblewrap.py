"""How commands are confined, as arguments; that it holds is tried in tests/flow/test_sandbox.py."""

import os
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.adapters.sandbox.bubblewrap import Sandbox, find_bubblewrap
from marid.adapters.sandbox.probe import probe_sandbox
from marid.adapters.sandbox.seccomp import ARCHITECTURES, filter_program
from marid.core.errors import Refused, Unavailable
from marid.ports.processes import ProcessCommand, ProcessResult


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def sandbox(home: Path) -> Sandbox:
    return Sandbox("/usr/bin/bwrap", env={"PATH": "/usr/bin", "HOME": str(home)}, state=str(home / ".marid"))


def arguments(sandbox: Sandbox, *roots: Path | str, network: bool = False) -> list[str]:
    command = ProcessCommand(argv=("x", "y"), cwd=str(roots[0]), roots=tuple(map(str, roots)), network=network)
    with sandbox.prepare(command) as launch:
        assert launch.argv[0] == "/usr/bin/bwrap"
        assert launch.argv[-3:] == ("--", "x", "y")
        assert launch.status_fd is not None
        assert all(os.fstat(fd) for fd in launch.fds)
        return list(launch.argv)


def mounted(args: Sequence[str], kind: str) -> list[str]:
    return [args[at + 2] for at, word in enumerate(args) if word == kind]


def test_it_is_alone_and_without_power(sandbox: Sandbox, root: Path) -> None:
    args = arguments(sandbox, root)
    assert {"--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-net"} < set(args)
    assert {"--new-session", "--die-with-parent"} < set(args)
    assert args[args.index("--cap-drop") + 1] == "ALL"


def test_the_network_is_there_when_it_is_allowed(sandbox: Sandbox, root: Path) -> None:
    assert "--unshare-net" not in arguments(sandbox, root, network=True)


def test_no_variable_is_on_the_command_line_where_others_could_read_it(home: Path, root: Path) -> None:
    env = {"PATH": "/usr/bin", "HOME": str(home), "TOKEN": "canary"}
    sandbox = Sandbox("/usr/bin/bwrap", env=env, state=str(home / ".marid"))
    assert not [word for word in arguments(sandbox, root) if "canary" in word]


def test_outer_roots_come_before_inner_ones(sandbox: Sandbox, root: Path) -> None:
    (root / "inner").mkdir()
    assert mounted(arguments(sandbox, root / "inner", root, root), "--bind-fd") == [str(root), str(root / "inner")]


def test_what_is_protected_is_mounted_over_the_roots(sandbox: Sandbox, root: Path) -> None:
    plant(root, {".mcp.json": "{}", ".env": "A=1", ".marid.toml": ""})
    args = arguments(sandbox, root)
    names = [".mcp.json", ".marid.toml", ".env"]
    assert mounted(args, "--ro-bind-fd") == [str(root / name) for name in names]
    assert args.index("--ro-bind-fd") > args.index("--bind-fd")


def test_a_repository_that_lies_in_another_place_of_the_roots_is_protected(sandbox: Sandbox, root: Path) -> None:
    plant(root, {".git": "gitdir: store\n", "store/HEAD": ""})
    assert str(root / "store") in mounted(arguments(sandbox, root), "--ro-bind-fd")


def test_the_folders_that_hold_another_repository_cannot_be_moved_away(sandbox: Sandbox, root: Path) -> None:
    plant(root, {"libs/deep/.git/HEAD": "", "libs/other/x": ""})
    args = arguments(sandbox, root)
    assert mounted(args, "--bind-fd") == [str(root), f"{root}/libs", f"{root}/libs/deep"]
    assert mounted(args, "--ro-bind-fd")[-1] == f"{root}/libs/deep/.git"


def test_a_repository_in_an_inner_root_stays_protected(sandbox: Sandbox, root: Path) -> None:
    plant(root, {"inner/deep/.git/HEAD": "", "inner/.git/HEAD": ""})
    args = arguments(sandbox, root, root / "inner")
    unwritable = [at for at, word in enumerate(args) if word == "--ro-bind-fd"]
    assert min(unwritable) > max(at for at, word in enumerate(args) if word == "--bind-fd")
    assert {f"{root}/inner/.git", f"{root}/inner/deep/.git"} == set(mounted(args, "--ro-bind-fd"))


def test_a_root_in_the_git_directory_cannot_be_written(sandbox: Sandbox, root: Path) -> None:
    plant(root, {".git/hooks/x": ""})
    args = arguments(sandbox, root, root / ".git/hooks")
    assert f"{root}/.git/hooks" not in mounted(args, "--bind-fd")


def test_a_link_that_has_taken_the_place_of_a_root_is_not_followed(sandbox: Sandbox, root: Path, home: Path) -> None:
    (root / "notes").symlink_to(home)
    assert mounted(arguments(sandbox, root, root / "notes"), "--bind-fd") == [str(root)]


def test_a_single_file_may_be_all_that_is_written(sandbox: Sandbox, root: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    args = arguments(sandbox, root, tmp_path / "notes")
    assert str(tmp_path / "notes") in mounted(args, "--bind-fd")
    assert not (tmp_path / "notes" / ".git").exists()


def test_our_own_folder_is_hidden_where_it_lies_in_a_root(sandbox: Sandbox, home: Path) -> None:
    (home / ".marid").mkdir()
    args = arguments(sandbox, home)
    assert args[args.index(str(home / ".marid")) - 1] == "--tmpfs"


def test_a_secret_file_of_a_home_that_is_a_root_is_hidden(sandbox: Sandbox, home: Path) -> None:
    plant(home, {".netrc": "x", ".ssh/id": "x"})
    args = arguments(sandbox, home)
    assert args[args.index(str(home / ".ssh")) - 1] == "--tmpfs"
    assert str(home / ".netrc") in [args[at + 1] for at, word in enumerate(args) if word == os.devnull]


def test_a_credential_that_is_a_link_is_passed_over(sandbox: Sandbox, root: Path) -> None:
    (root / ".env").symlink_to("elsewhere")
    assert str(root / ".env") not in arguments(sandbox, root)


def test_our_own_folder_is_no_project(sandbox: Sandbox, home: Path) -> None:
    (home / ".marid").mkdir()
    with pytest.raises(Refused, match="cannot be confined"):
        arguments(sandbox, home / ".marid")


def test_without_a_filter_for_the_machine_there_is_none(home: Path, root: Path) -> None:
    env = {"PATH": "/usr/bin", "HOME": str(home)}
    known = Sandbox("/usr/bin/bwrap", env=env, state=str(home / ".marid"), machine="x86_64")
    strange = Sandbox("/usr/bin/bwrap", env=env, state=str(home / ".marid"), machine="vax")
    assert "--seccomp" in arguments(known, root)
    assert "--seccomp" not in arguments(strange, root)


def test_bubblewrap_is_looked_for_where_systems_install_it(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    assert find_bubblewrap([str(program)]) is None
    program.touch(mode=0o755)
    assert find_bubblewrap(["/nowhere/bwrap", str(program)]) == str(program)


Run = Callable[[ProcessCommand], ProcessResult]


@pytest.fixture
def outside(tmp_path: Path) -> Run:
    """No sandbox at all, except that /etc is not the real one: somebody may run this as root."""

    def run(command: ProcessCommand) -> ProcessResult:
        argv = [part.replace("/etc/", f"{tmp_path}/") for part in command.argv]
        done = subprocess.run(argv, cwd=command.cwd, capture_output=True, text=True, check=False)
        return ProcessResult(status=done.returncode, out=done.stdout, err=done.stderr, seconds=0.0)

    return run


def test_without_walls_the_holes_are_named(outside: Run, tmp_path: Path) -> None:
    state = probe_sandbox(outside, str(tmp_path / "state"))
    assert not state.confined
    for hole in ("can write outside of its roots", "can see files", "can write in .git"):
        assert hole in state.reason


def test_nothing_is_left_of_the_tries(outside: Run, tmp_path: Path) -> None:
    probe_sandbox(outside, str(tmp_path / "state"))
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize(("out", "confined"), [("tried\n", True), ("", False), ("has a network\ntried\n", False)])
def test_only_a_sandbox_that_answers_and_has_no_holes_confines(tmp_path: Path, out: str, *, confined: bool) -> None:
    state = probe_sandbox(lambda _: ProcessResult(status=0, out=out, err="", seconds=0.0), str(tmp_path))
    assert state.confined is confined
    assert confined == (state.reason == "")


def test_a_sandbox_that_cannot_be_set_up_confines_nothing(tmp_path: Path) -> None:
    def broken(command: ProcessCommand) -> ProcessResult:
        raise Unavailable("no user namespaces")

    assert probe_sandbox(broken, str(tmp_path)).reason == "the sandbox does not work here: no user namespaces"


def test_without_a_folder_of_ours_nothing_can_be_tried(outside: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    state = probe_sandbox(outside, str(tmp_path / "file" / "state"))
    assert state.reason == "the sandbox could not be tested: Not a directory"


ALLOW, REFUSE = 0x7FFF0000, 0x00050001


def verdict(filter_: bytes, number: int, audit: int) -> int:
    """What the kernel would say: a small interpreter of the four instructions in use."""
    lines = [struct.unpack_from("HBBI", filter_, at) for at in range(0, len(filter_), 8)]
    at, value = 0, 0
    while True:
        code, yes, no, operand = lines[at]
        at += 1
        if code == 0x20:
            value = {0: number, 4: audit}[operand]
        elif code == 0x06:
            return operand
        else:
            at += yes if (value == operand if code == 0x15 else value >= operand) else no


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_named_calls_are_refused_and_all_others_allowed(machine: str) -> None:
    filter_ = filter_program(machine)
    assert filter_ is not None
    audit, refused_calls = ARCHITECTURES[machine]
    assert {number for number in range(600) if verdict(filter_, number, audit) == REFUSE} == set(refused_calls)
    assert {verdict(filter_, number, audit) for number in range(600)} == {ALLOW, REFUSE}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_another_set_of_numbers_is_no_way_round(machine: str) -> None:
    filter_ = filter_program(machine)
    assert filter_ is not None
    assert verdict(filter_, 0x40000000 + 1, ARCHITECTURES[machine][0]) == REFUSE
    assert verdict(filter_, 1, 0x40000003) == REFUSE


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("vax") is None
