import subprocess
import sys
from pathlib import Path

import pytest

from fakes.program import Program
from marid.launch.table import COMMANDS


@pytest.fixture
def on_path(marid: Program, tmp_path: Path) -> Program:
    """The program, installed as `marid` in a folder of its own on PATH."""
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "marid"
    script.write_text(f"#!{sys.executable}\nfrom marid.__main__ import main\nmain()\n")
    script.chmod(0o755)
    marid.set(PATH=f"{place}:/usr/bin:/bin")
    return marid


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", ["_MARID_COMPLETE=bash_complete", "complete -o nosort -F _marid_completion marid"]),
        ("zsh", ["#compdef marid", "_MARID_COMPLETE=zsh_complete"]),
        ("fish", ["complete --no-files --command marid", "_MARID_COMPLETE=fish_complete"]),
    ],
)
def test_every_shell_has_its_script(marid: Program, shell: str, words: list[str]) -> None:
    shown = marid("completion", shell)
    assert shown.code == 0
    assert [word for word in words if word not in shown.text] == []


def test_an_unknown_shell_is_refused(marid: Program) -> None:
    told = marid("completion", "tcsh")
    assert told.code == 2
    assert "'bash', 'zsh', 'fish'" in told.err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("marid con", ["context"]),
        ("marid context --line", ["--line-numbers"]),
        ("marid context --format ", ["text", "markdown", "xml", "json"]),
        ("marid completion z", ["zsh"]),
        ("marid nonsense con", ["context"]),
        ("marid tool py_get_s", ["py_get_skeleton", "py_get_signature"]),
        ("marid tool read_file --a", ["--args", "--allow"]),
        ("marid tool py_add_def --new_", ["--new_content"]),
        ("marid tool py_add_def --anchor_type b", ["bottom", "before"]),
        ("marid tool edit_file --replace_all ", ["true", "false"]),
        ("marid tool --allow ", ["write", "exec", "net", "spawn"]),
        ("marid tool read_file --allow write,e", ["write,exec"]),
        ("marid tools --family ru", ["runtime"]),
        ("marid tool nonsense --", []),
    ],
)
def test_words_are_completed(marid: Program, words: str, found: list[str]) -> None:
    count = len(words.split(" ")) - 1
    marid.set(COMP_WORDS=words, COMP_CWORD=str(count), _MARID_COMPLETE="bash_complete")
    shown = marid()
    assert (shown.code, shown.lines) == (0, [f"plain,{word}" for word in found])


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("marid tool read_file --path sr", "file,sr"),
        ("marid tools --root sr", "dir,sr"),
        ("marid tool --file sr", "file,sr"),
    ],
)
def test_paths_are_left_to_the_shell(marid: Program, words: str, kind: str) -> None:
    marid.set(COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1), _MARID_COMPLETE="bash_complete")
    assert marid().lines == [kind]


def test_wrong_settings_do_not_spoil_the_line_that_is_typed(marid: Program) -> None:
    marid.write({".marid.toml": "nonsense = 1\n"})
    marid.set(COMP_WORDS="marid tool read", COMP_CWORD="2", _MARID_COMPLETE="bash_complete")
    shown = marid()
    assert (shown.code, shown.text, shown.err) == (0, "", "")


def test_bash_really_completes(on_path: Program) -> None:
    script = (
        'eval "$(marid completion bash)"; COMP_WORDS=(marid ""); COMP_CWORD=1; _marid_completion marid; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stdout.decode().split() == list(COMMANDS)
