import os
import time
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.workspace.guard.protected_files import (
    ListingFilter,
    ProtectedFiles,
    autorun_reason,
    has_shell_expansion,
    is_git_dir_name,
    is_history_file,
    without_history_files,
)


@pytest.mark.parametrize(
    ("home", "root", "inside"),
    [
        ("", "/r", None),
        ("/h", "/r", None),
        ("/r/h", "/r", "h"),
        ("/r/a/h", "/r", "a/h"),
        ("/r", "/r", "."),
        ("/h", "/h/project", "."),
        ("/rr", "/r", None),
        ("/r", "/rr", None),
        ("/h", "/", "h"),
        ("/", "/r", "."),
    ],
)
def test_where_the_home_lies_beneath_a_root(home: str, root: str, inside: str | None) -> None:
    assert ProtectedFiles(home).home_below(root) == inside


def test_a_file_with_one_name_is_never_another_file(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x"})
    assert not ProtectedFiles("", [str(tmp_path)]).is_protected_link(os.stat(tmp_path / "history.toml"))


def test_a_hard_link_to_a_history_or_into_the_home_is_found(tmp_path: Path) -> None:
    plant(tmp_path, {"r/d/history.toml": "x", "r/a.txt": "a", "home/log": "l"})
    withheld = ProtectedFiles(str(tmp_path / "home"), [str(tmp_path / "r")])
    os.link(tmp_path / "r/a.txt", tmp_path / "r/b.txt")
    assert not withheld.is_protected_link(os.stat(tmp_path / "r/b.txt"))
    os.link(tmp_path / "r/d/history.toml", tmp_path / "r/c.txt")
    assert withheld.is_protected_link(os.stat(tmp_path / "r/c.txt"))
    os.link(tmp_path / "home/log", tmp_path / "r/d.txt")
    assert withheld.is_protected_link(os.stat(tmp_path / "r/d.txt"))


def linked(path: Path, changed: int) -> os.stat_result:
    """The status of a file as if it had a second name since `changed`."""
    about = os.stat(path)
    return os.stat_result((*about[:3], 2, *about[4:10]), {"st_ctime_ns": changed})


def test_what_was_named_before_the_last_look_is_not_looked_for_again(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x", "a.txt": "a"})
    withheld = ProtectedFiles("", [str(tmp_path)])
    history = linked(tmp_path / "history.toml", time.time_ns() - 10**9)
    assert withheld.is_protected_link(history)
    (tmp_path / "history.toml").rename(tmp_path / "b.txt")
    assert withheld.is_protected_link(history)
    assert not withheld.is_protected_link(linked(tmp_path / "b.txt", time.time_ns()))


def test_a_file_from_the_future_does_not_make_every_read_a_search(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x"})
    withheld = ProtectedFiles("", [str(tmp_path)])
    history = linked(tmp_path / "history.toml", time.time_ns() + 3600 * 10**9)
    assert withheld.is_protected_link(history)
    (tmp_path / "history.toml").rename(tmp_path / "b.txt")
    assert withheld.is_protected_link(history)


def test_the_home_is_taken_out_of_the_folder_that_holds_it_only(tmp_path: Path) -> None:
    plant(tmp_path, {"sub/.marid/x": "", "other/.marid/x": ""})
    blinkers = ListingFilter(ProtectedFiles(str(tmp_path / "sub/.marid")), str(tmp_path))
    for folder, names in (("sub", ["a"]), ("other", [".marid", "a"])):
        fd = os.open(tmp_path / folder, os.O_RDONLY)
        assert blinkers.visible_names([".marid", "a"], fd) == names
        os.close(fd)


def test_a_home_that_is_not_there_hides_nothing(tmp_path: Path) -> None:
    blinkers = ListingFilter(ProtectedFiles(str(tmp_path / "sub/.marid")), str(tmp_path))
    fd = os.open(tmp_path, os.O_RDONLY)
    assert blinkers.visible_names([".marid"], fd) == [".marid"]
    os.close(fd)


@pytest.mark.parametrize(
    "name", ["history.toml", "HISTORY.TOML", "History.Toml", "chat_history.toml", "X_HISTORY.toml"]
)
def test_a_history_is_known_in_any_case(name: str) -> None:
    assert is_history_file(name)


@pytest.mark.parametrize("name", ["prehistory.toml", "history.toml.txt", "history.tom", "a.py", "", "history.toml "])
def test_what_only_resembles_one_is_none(name: str) -> None:
    assert not is_history_file(name)


def test_histories_are_taken_out_of_a_list() -> None:
    assert without_history_files(["a", "History.toml", "prehistory.toml", "b_history.toml"]) == ["a", "prehistory.toml"]
    names = ["a", "b"]
    assert without_history_files(names) is names


@pytest.mark.parametrize(
    "name",
    [
        *(".git", ".GIT", ".Git", ".git.", ".git...", ".git ", ".git. .", "git~1", "GIT~1", "git~2"),
        *(".git::$INDEX_ALLOCATION", ".g\u200cit", ".gi\ufefft"),
    ],
)
def test_every_spelling_that_some_file_system_takes_for_the_git_directory_is_known(name: str) -> None:
    assert is_git_dir_name(name)


@pytest.mark.parametrize(
    "name", [".gitignore", ".github", "git", "a.git", ".gitmodules", "git~", "git~x", "..git", "é"]
)
def test_other_names_are_not(name: str) -> None:
    assert not is_git_dir_name(name)


@pytest.mark.parametrize(
    "raw", ["~/.ssh/id_rsa", "~root/x", "~", "$HOME/.aws", "${HOME}/x", "$HOME", "%USERPROFILE%\\x"]
)
def test_a_path_that_a_shell_would_expand_is_known(raw: str) -> None:
    assert has_shell_expansion(raw)


@pytest.mark.parametrize(
    "raw", ["~$letter.docx", "a/~/b", "./~/x", "$lib/index.ts", "100%", "%20x", "$", "", "a~", "%5Bid%5D/x"]
)
def test_a_name_that_a_shell_would_leave_alone_is_not(raw: str) -> None:
    assert not has_shell_expansion(raw)


AUTORUN_FILES = (
    ".mcp.json .vscode/tasks.json .idea/workspace.xml .envrc .bashrc .gitmodules .ripgreprc foo.pth "
    "lib/sitecustomize.py usercustomize.py conftest.py tests/conftest.py setup.cfg setup.py "
    ".github/workflows/ci.yml .gitlab-ci.yml CONFTEST.PY .GitHub/Workflows/x.yml Jenkinsfile "
    ".circleci/config.yml .pre-commit-config.yaml a/.VSCODE/settings.json conftest.py. "
    ".github/actions/x/action.yml x.code-workspace .cargo/config.toml .claude/settings.json .zshrc .npmrc .env"
)


@pytest.mark.parametrize("name", AUTORUN_FILES.split())
def test_what_something_obeys_unasked_is_named_with_a_reason(name: str) -> None:
    assert autorun_reason(name).split()[0] in ("is", "names", "holds", "tells", "sets", "can", "gives")


ORDINARY_FILES = "a.py Makefile package.json README.md .github/CODEOWNERS vscode/x.json pyproject.toml .env.example pth"


@pytest.mark.parametrize("name", [*ORDINARY_FILES.split(), "src/a.pthx"])
def test_ordinary_sources_are_not(name: str) -> None:
    assert autorun_reason(name) == ""


@pytest.mark.parametrize("name", [".yarnrc", ".pnpmfile.cjs", "Lefthook.yml", ".drone.yml", "sub/.cshrc", ".tcshrc"])
def test_what_other_tools_run_by_themselves_runs_later_too(name: str) -> None:
    assert autorun_reason(name)
