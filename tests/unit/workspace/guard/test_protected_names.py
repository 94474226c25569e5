import pytest

from marid.workspace.guard.protected_names import (
    autorun_reason,
    has_shell_expansion,
    is_git_dir_name,
    is_history_file,
    without_history_files,
)


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
        ".git",
        ".GIT",
        ".Git",
        ".git.",
        ".git...",
        ".git ",
        ".git. .",
        "git~1",
        "GIT~1",
        "git~2",
        ".git::$INDEX_ALLOCATION",
        ".g\u200cit",
        ".gi\ufefft",
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


@pytest.mark.parametrize(
    "name",
    [
        ".mcp.json",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".envrc",
        ".bashrc",
        ".gitmodules",
        ".ripgreprc",
        "foo.pth",
        "lib/sitecustomize.py",
        "usercustomize.py",
        "conftest.py",
        "tests/conftest.py",
        "setup.cfg",
        "setup.py",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        "CONFTEST.PY",
        ".GitHub/Workflows/x.yml",
        "Jenkinsfile",
        ".circleci/config.yml",
        ".pre-commit-config.yaml",
        "a/.VSCODE/settings.json",
        "conftest.py.",
        ".github/actions/x/action.yml",
        "x.code-workspace",
        ".cargo/config.toml",
        ".claude/settings.json",
        ".zshrc",
        ".npmrc",
        ".env",
    ],
)
def test_what_something_obeys_unasked_is_named_with_a_reason(name: str) -> None:
    assert autorun_reason(name).split()[0] in ("is", "names", "holds", "tells", "sets", "can", "gives")


@pytest.mark.parametrize(
    "name",
    [
        "a.py",
        "Makefile",
        "package.json",
        "README.md",
        ".github/CODEOWNERS",
        "vscode/x.json",
        "pyproject.toml",
        ".env.example",
        "pth",
        "src/a.pthx",
    ],
)
def test_ordinary_sources_are_not(name: str) -> None:
    assert autorun_reason(name) == ""


@pytest.mark.parametrize("name", [".yarnrc", ".pnpmfile.cjs", "Lefthook.yml", ".drone.yml", "sub/.cshrc", ".tcshrc"])
def test_what_other_tools_run_by_themselves_runs_later_too(name: str) -> None:
    assert autorun_reason(name)
