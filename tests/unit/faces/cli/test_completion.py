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
    ],
)
def test_words_are_completed(marid: Program, words: str, found: list[str]) -> None:
    count = len(words.split(" ")) - 1
    marid.set(COMP_WORDS=words, COMP_CWORD=str(count), _MARID_COMPLETE="bash_complete")
    shown = marid()
    assert (shown.code, shown.lines) == (0, [f"plain,{word}" for word in found])


def test_bash_really_completes(on_path: Program) -> None:
    script = (
        'eval "$(marid completion bash)"; COMP_WORDS=(marid ""); COMP_CWORD=1; _marid_completion marid; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stdout.decode().split() == list(COMMANDS)
