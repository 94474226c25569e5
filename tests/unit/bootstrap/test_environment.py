import os
import pwd
from pathlib import Path

import pytest

from marid.bootstrap.environment import (
    completion_request,
    disable_pydantic_plugins,
    find_home,
    find_project,
    git_user_files,
    user_home,
    wants_colour,
)
from marid.core.errors import BadInput, NotFound


def test_home_is_ours_then_chibi_s_then_a_folder_of_the_user() -> None:
    assert find_home({"MARID_HOME": "/m", "CHIBI_HOME": "/c"}) == "/m"
    assert find_home({"CHIBI_HOME": "/c"}) == "/c"
    assert find_home({"MARID_HOME": "", "HOME": "/u"}) == "/u/.marid"


def test_without_home_the_list_of_users_says_where_it_is() -> None:
    entry = pwd.getpwuid(os.getuid()).pw_dir
    assert user_home({}) == user_home({"HOME": ""}) == entry
    assert find_home({}) == os.path.join(entry, ".marid")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody without a name")
def test_a_person_without_any_home_is_told_what_to_set() -> None:
    os.setresuid(424_242, -1, -1)
    try:
        assert user_home({}) == ""
        found = git_user_files({})
        assert (found.configs, found.excludes, found.home) == (("/etc/gitconfig",), "", "")
        assert find_home({"MARID_HOME": "/m"}) == "/m"
        with pytest.raises(BadInput, match=r"no home folder found: set MARID_HOME"):
            find_home({})
    finally:
        os.setresuid(0, -1, -1)


def test_the_project_is_what_is_given_then_ours_then_chibi_s_then_as_version_control_marks_it(tmp_path: Path) -> None:
    for name in ("given", "ours", "theirs", "top/sub", "top/.git"):
        (tmp_path / name).mkdir(parents=True)
    cwd = str(tmp_path / "top" / "sub")
    ours, theirs = {"MARID_PROJECT_ROOT": str(tmp_path / "ours")}, {"CHIBI_PROJECT_ROOT": "../../theirs"}
    assert find_project({**ours, **theirs}, cwd, "../../given") == str(tmp_path / "given")
    assert find_project({**ours, **theirs}, cwd) == str(tmp_path / "ours")
    assert find_project(theirs, cwd) == str(tmp_path / "theirs")
    assert find_project({"MARID_PROJECT_ROOT": "", "CHIBI_PROJECT_ROOT": ""}, cwd) == str(tmp_path / "top")


def test_a_project_that_is_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="the project root 'nowhere' is not a folder"):
        find_project({}, str(tmp_path), "nowhere")


def test_a_relative_home_is_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_home({"MARID_HOME": "h"}) == str(tmp_path / "h")


def test_git_s_files_are_where_git_looks_for_them() -> None:
    found = git_user_files({"HOME": "/u"})
    assert found.configs == ("/etc/gitconfig", "/u/.config/git/config", "/u/.gitconfig")
    assert (found.excludes, found.home) == ("/u/.config/git/ignore", "/u")


def test_git_s_own_variables_are_followed() -> None:
    found = git_user_files(
        {"HOME": "/u", "XDG_CONFIG_HOME": "/x", "GIT_CONFIG_SYSTEM": "/s", "GIT_CONFIG_GLOBAL": "/g"}
    )
    assert found.configs == ("/s", "/g")
    assert found.excludes == "/x/git/ignore"
    assert git_user_files({"HOME": "/u", "GIT_CONFIG_NOSYSTEM": "1"}).configs[0] == "/u/.config/git/config"


def test_without_a_home_variable_the_user_has_one_all_the_same() -> None:
    assert git_user_files({}).home == pwd.getpwuid(os.getuid()).pw_dir


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(environ: dict[str, str], wanted: bool) -> None:
    assert wants_colour(environ) is wanted


def test_a_shell_asks_for_completions_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MARID_COMPLETE", "")
    assert completion_request("marid") is None
    monkeypatch.setenv("_MARID_COMPLETE", "zsh_complete")
    assert completion_request("marid") == ("_MARID_COMPLETE", "zsh_complete")
    assert completion_request("jinni") is None


def test_pydantic_looks_for_no_plugins_unless_the_user_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "one")
    disable_pydantic_plugins()
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "one"
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS")
    disable_pydantic_plugins()
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "__all__"
