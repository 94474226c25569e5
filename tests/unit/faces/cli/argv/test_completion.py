import os
import shutil
import sys
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.real_app import add_messages
from fakes.shell_completion import complete_line, fish_completions
from marid.bootstrap.wiring import open_request
from marid.faces.cli.argv.shell_scripts import flag_prefix, join_split_words

# Said before the program's own variables are taken away.
_WITHOUT = os.environ.get("MARID_WITHOUT_SHELLS") == "1"


def has(shell: str) -> None:
    """A shell that is missing is a failure, unless somebody has said that there is none."""
    if shutil.which(shell) is None:
        if _WITHOUT:
            pytest.skip(f"MARID_WITHOUT_SHELLS: there is no {shell}")
        pytest.fail(f"install {shell}, or set MARID_WITHOUT_SHELLS=1")


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
        ("marid cont", ["context"]),
        ("marid -v conv", ["conversations"]),
        ("marid hello conv", []),
        ("marid -- conv", []),
        ("marid -- --ver", []),
        ("marid --ver", ["--verbose", "--version"]),
        ("marid hello --show-t", ["--show-thinking"]),
        ("marid --debug cont", []),
        ("marid --debug all cont", ["context"]),
        ("marid --debug request-log,resp", ["request-log,response-meta"]),
        ("marid --allow w", ["write"]),
        ("marid -P get_tr", ["get_tree"]),
        ("marid -P get_tree ", []),
        ("marid -n tod", ["todos"]),
        ("marid -N x go", ["goals"]),
        ("marid --exclude update_g", ["update_goals"]),
        ("marid -vn tod", ["todos"]),
        ("marid --inspect-current = tod", ["todos"]),
        ("marid -s fuel =", [""]),
        ("marid -s fuel", ["fuel=", "fuel_empty_response_cost="]),
        ("marid inspect syst", ["system_prompt"]),
        ("marid set user", ["username"]),
        ("marid conversations re", ["rename", "restore"]),
        ("marid context --line", ["--line-numbers"]),
        ("marid context --format ", ["text", "markdown", "xml", "json"]),
        ("marid completion z", ["zsh"]),
        ("marid tool py_get_s", ["py_get_skeleton", "py_get_signature"]),
        ("marid tool read_file --a", ["--args", "--allow"]),
        ("marid tool py_add_def --new_", ["--new_content"]),
        ("marid tool py_add_def --anchor_type b", ["bottom", "before"]),
        ("marid tool edit_file --replace_all ", ["true", "false"]),
        ("marid tool --allow ", ["write", "exec", "net", "spawn"]),
        ("marid tool read_file --allow write,e", ["write,exec"]),
        ("marid tools --family ru", ["runtime"]),
        ("marid tool nonsense --", []),
        ("marid --bogus context --line", ["--line-numbers"]),
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
        ("marid --home sr", "dir,sr"),
        ("marid -y sr", "file,sr"),
        ("marid --file sr", "file,sr"),
        ("marid tool --file sr", "file,sr"),
    ],
)
def test_paths_are_left_to_the_shell(marid: Program, words: str, kind: str) -> None:
    marid.set(COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1), _MARID_COMPLETE="bash_complete")
    assert marid().lines == [kind]


@pytest.fixture
def with_names(marid: Program) -> Program:
    """With two conversations."""
    for name in ("work", "play"):
        add_messages(open_request(), name, "x")
    return marid


@pytest.mark.parametrize("flag", ["-c", "-C", "-D", "-A", "-R", "-B", "-G", "-N", "-Y", "-M"])
def test_names_of_conversations_are_completed(with_names: Program, flag: str) -> None:
    with_names.set(COMP_WORDS=f"marid {flag} w", COMP_CWORD="2", _MARID_COMPLETE="bash_complete")
    assert with_names().lines == ["plain,work"]
    with_names.set(COMP_WORDS=f"marid {flag} ")
    assert [line for line in with_names().lines if line in ("plain,-", "plain,play", "plain,work")] == [
        "plain,-",
        "plain,play",
        "plain,work",
    ]


@pytest.mark.parametrize(
    "command",
    [
        *("log", "clear", "export", "conversations show", "conversations switch", "conversations rename"),
        *("conversations archive", "conversations restore", "conversations destroy", "conversations expire", "set -C"),
        *("say -C", "resume", "inbox", "inbox work", "inspect", "inspect -C"),
    ],
)
def test_commands_complete_names_too(with_names: Program, command: str) -> None:
    words = f"marid {command} pl"
    with_names.set(COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1), _MARID_COMPLETE="bash_complete")
    assert with_names().lines == ["plain,play"]


def test_a_home_that_is_named_on_the_line_counts(marid: Program, tmp_path: Path) -> None:
    add_messages(open_request(home=str(tmp_path / "other")), "elsewhere", "x")
    words = f"marid --home {tmp_path / 'other'} -c el"
    marid.set(COMP_WORDS=words, COMP_CWORD="4", _MARID_COMPLETE="bash_complete")
    assert marid().lines == ["plain,elsewhere"]
    marid.set(COMP_WORDS=words.replace("-c el", "log el"))
    assert marid().lines == ["plain,elsewhere"]


def test_wrong_settings_do_not_spoil_the_line_that_is_typed(marid: Program) -> None:
    marid.write({".marid.toml": "nonsense = 1\n"})
    marid.set(COMP_WORDS="marid tool read", COMP_CWORD="2", _MARID_COMPLETE="bash_complete")
    shown = marid()
    assert (shown.code, shown.err) == (0, "")


_LINES = [
    ("marid -c wo\t", ["marid", "-c", "work"]),
    ("marid -vc wo\t", ["marid", "-vc", "work"]),
    ("marid --switch-context=wo\t", ["marid", "--switch-context=work"]),
    ("marid say --conversation=wo\t", ["marid", "say", "--conversation=work"]),
    ("marid conv\t", ["marid", "conversations"]),
    ("marid log wo\t", ["marid", "log", "work"]),
    ("marid --show-th\t", ["marid", "--show-thinking"]),
    ("marid --include update_t\t", ["marid", "--include", "update_todos"]),
    ("marid -s fuel_em\t5", ["marid", "-s", "fuel_empty_response_cost=5"]),
    ("marid --home fol\tx", ["marid", "--home", "folder/x"]),
]


@pytest.mark.parametrize(("line", "words"), _LINES, ids=[repr(line) for line, _ in _LINES])
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_really_completes_what_is_typed(on_path: Program, shell: str, line: str, words: list[str]) -> None:
    has(shell)
    add_messages(open_request(), "work", "x")
    (on_path.folder / "folder").mkdir()
    assert complete_line(shell, line, on_path.folder) == words


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_is_not_finished_is_followed_by_no_space(on_path: Program, shell: str) -> None:
    has(shell)
    assert complete_line(shell, "marid -C new:\tx", on_path.folder)[-1] == "new:x"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("marid -c wo", ["work"]),
        ("marid -vc wo", ["work"]),
        ("marid --switch-context=wo", ["--switch-context=work"]),
        ("marid say --conversation=wo", ["--conversation=work"]),
        ("marid conv", ["conversations"]),
        ("marid --show-th", ["--show-thinking"]),
        ("marid --debug request-log,re", ["request-log,response-meta"]),
        ("marid --home fol", ["folder/"]),
    ],
)
def test_fish_really_offers(on_path: Program, line: str, offered: list[str]) -> None:
    has("fish")
    add_messages(open_request(), "work", "x")
    (on_path.folder / "folder").mkdir()
    assert fish_completions(line) == offered


_APART: list[tuple[list[str], str, tuple[list[str], str, str]]] = [
    (["-c"], "wo", (["-c"], "wo", "")),
    (["--switch-context", "="], "wo", ([], "--switch-context=wo", "--switch-context=")),
    (["--switch-context"], "=", ([], "--switch-context=", "--switch-context=")),
    (["-C", "new", ":"], "to", (["-C"], "new:to", "new:")),
    (["--home", "=", "/x", "-c"], "", (["--home=/x", "-c"], "", "")),
    (["-s", "a", "=", "b", "log"], "w", (["-s", "a=b", "log"], "w", "")),
    ([], "=", ([], "=", "=")),
    ([], "", ([], "", "")),
]


@pytest.mark.parametrize(("args", "incomplete", "found"), _APART)
def test_words_that_bash_took_apart_are_put_together(
    args: list[str], incomplete: str, found: tuple[list[str], str, str]
) -> None:
    assert join_split_words(args, incomplete) == found


def test_only_a_long_flag_has_its_value_attached_by_a_sign() -> None:
    assert flag_prefix("--home=/x=y") == "--home="
    assert [flag_prefix(word) for word in ("--home", "fuel=3", "-s", "", "a--b=c")] == [""] * 5
