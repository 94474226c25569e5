from pathlib import Path

import pytest

from marid.bootstrap.shell_environment import ShellEnvironment, shell_environment
from marid.core.errors import BadInput

ENVIRON = {"PATH": "/usr/bin:/bin", "HOME": "/home/u", "LANG": "C.UTF-8", "LC_ALL": "C", "API_KEY": "canary"}


def made(home: Path, text: str = "") -> ShellEnvironment:
    if text:
        (home / "mcp_env.toml").write_text(text)
    return shell_environment(ENVIRON, str(home))


def test_s14_only_what_is_allowed_is_handed_on(tmp_path: Path) -> None:
    assert made(tmp_path).variables == {name: ENVIRON[name] for name in ("PATH", "HOME", "LANG", "LC_ALL")}


@pytest.mark.parametrize("path", [".:/usr/bin", "/usr/bin::bin", "bin:/usr/bin:"])
def test_folders_of_the_path_are_absolute(tmp_path: Path, path: str) -> None:
    assert shell_environment({"PATH": path}, str(tmp_path)).variables["PATH"] == "/usr/bin"


def test_without_a_path_there_is_the_usual_one(tmp_path: Path) -> None:
    assert shell_environment({}, str(tmp_path)).variables["PATH"] == "/bin:/usr/bin"


def test_the_file_prepends_to_the_path_and_sets_variables(tmp_path: Path) -> None:
    found = made(tmp_path, '[path]\nprepend = ["/a/bin", "${HOME}/bin"]\n[env]\nMY_VAR = "x"\nSUB = "${HOME}/sub"\n')
    assert found.variables["PATH"] == "/a/bin:/home/u/bin:/usr/bin:/bin"
    assert (found.variables["MY_VAR"], found.variables["SUB"]) == ("x", "/home/u/sub")
    assert found.warnings == ()


def test_a_variable_may_be_handed_on_by_name(tmp_path: Path) -> None:
    assert made(tmp_path, '[env]\nKEY = "${API_KEY}"\n').variables["KEY"] == "canary"


def test_references_see_what_was_set_above_and_the_new_path(tmp_path: Path) -> None:
    found = made(tmp_path, '[env]\nA = "1"\nB = "${A}2"\nP = "${PATH}"\n[path]\nprepend = ["/x"]\n')
    assert (found.variables["B"], found.variables["P"]) == ("12", "/x:/usr/bin:/bin")


def test_only_braces_are_references(tmp_path: Path) -> None:
    assert made(tmp_path, '[env]\nA = "$HOME %HOME% ${} ~"\n').variables["A"] == "$HOME %HOME% ${} ~"


def test_a_reference_to_nothing_is_empty_and_said(tmp_path: Path) -> None:
    found = made(tmp_path, '[env]\nA = "x${NOPE}y"\n')
    assert found.variables["A"] == "xy"
    assert found.warnings == ("mcp_env.toml: [env] A: ${NOPE} is not set",)


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "ld_library_path", "PYTHONPATH", "BASH_ENV", "GIT_SSH_COMMAND", "DYLD_X"]
)
def test_s13_what_makes_programs_load_other_code_is_left_out_and_said(tmp_path: Path, name: str) -> None:
    found = made(tmp_path, f'[env]\n{name} = "x"\nA = "1"\n')
    assert name not in found.variables
    assert found.variables["A"] == "1"
    assert found.warnings == (f"mcp_env.toml: {name} is ignored: it would make programs load other code",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[env", "not valid TOML"),
        ("[paths]\nprepend = []\n", "'paths' is unknown"),
        ('env = "x"\n', "'env' is unknown"),
        ('[path]\nprepend = "/x"\n', "a list of folders"),
        ("[path]\nappend = []\n", "a list of folders"),
        ('[path]\nprepend = ["bin"]\n', "'bin' is not an absolute folder"),
        ('[path]\nprepend = ["/a:/b"]\n', "not an absolute folder"),
        ("[path]\nprepend = [1]\n", "must be a string"),
        ("[env]\nA = 1\n", "[env] A: must be a string"),
        ('[env]\nA = "a\\u0000"\n', "must be a string"),
        ('[env]\n"A=B" = "x"\n', "is not a valid variable name"),
    ],
)
def test_what_is_wrong_in_the_file_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=r"mcp_env\.toml") as caught:
        made(tmp_path, text)
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "mcp_env.toml").mkdir()
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        made(tmp_path)
