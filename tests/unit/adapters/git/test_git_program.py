from pathlib import Path

import pytest

from marid.adapters.git.git_program import GitProgram, check_status
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import Unavailable


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which git is a program that prints its arguments and variables."""
    (tmp_path / "git").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n/usr/bin/env\n')
    (tmp_path / "git").chmod(0o755)
    return {"PATH": f"bin:{tmp_path}", "HOME": "/home/ada", "GIT_DIR": "/elsewhere", "TOKEN": "x", "https_proxy": "p"}


def lines_of(result: ProgramResult) -> set[str]:
    return set(result.out.decode().splitlines())


def test_git_alone_has_no_home_and_is_quiet(env: dict[str, str], tmp_path: Path) -> None:
    lines = lines_of(GitProgram(env, ProgramLimits()).run_isolated("status", cwd="/", extra={"GIT_WORK_TREE": "/w"}))
    assert {"HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null"} <= lines
    assert {"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_WORK_TREE=/w"} <= lines
    assert {"status", "--no-pager", "core.fsmonitor=false", "core.hooksPath=/dev/null", f"PATH={tmp_path}"} <= lines


def test_git_for_the_user_has_the_users_home_and_no_other_variables(env: dict[str, str]) -> None:
    lines = lines_of(GitProgram(env, ProgramLimits()).run_with_user_config("status", cwd="/"))
    assert {"HOME=/home/ada", "https_proxy=p", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1"} <= lines
    assert not lines & {"GIT_DIR=/elsewhere", "TOKEN=x"}


def test_without_git_it_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="git is not installed"):
        GitProgram({}, ProgramLimits()).run_with_user_config("status", cwd="/")


def test_status_1_is_an_answer_and_more_is_a_failure() -> None:
    no = ProgramResult(status=1, out=b"", err=b"")
    assert check_status(no, "git x") is no
    with pytest.raises(Unavailable, match="git x failed: bad"):
        check_status(ProgramResult(status=128, out=b"", err=b"fatal: bad\n"), "git x")
