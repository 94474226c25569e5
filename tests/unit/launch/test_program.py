import pytest

from fakes.program import Program
from marid import __version__
from marid.launch.program import find_command
from marid.launch.table import COMMANDS


def test_the_version_is_told(marid: Program) -> None:
    assert marid("--version").text == marid("-V").text == f"marid {__version__}\n"


def test_the_help_lists_every_command(marid: Program) -> None:
    shown = marid("--help")
    assert shown.code == 0
    assert [
        name for name, one in COMMANDS.items() if f"  {name}" not in shown.text or one.summary not in shown.text
    ] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_of_its_own(marid: Program, name: str) -> None:
    shown = marid(name, "-h")
    assert shown.code == 0
    assert shown.text.startswith(f"Usage: marid {name} ")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("contxt", "did you mean 'context'?"),
        ("link", "did you mean 'links'?"),
        ("zzz", "there are context, tools, tool, allow"),
    ],
)
def test_an_unknown_command_is_told_with_what_was_meant(marid: Program, word: str, hint: str) -> None:
    told = marid(word, "x")
    assert (told.code, told.out) == (2, b"")
    assert f"no command '{word}'; {hint}" in told.err


def test_an_unknown_option_is_told(marid: Program) -> None:
    assert marid("--verison").code == 2


def test_home_may_be_given(marid: Program) -> None:
    home = marid.folder.parent / "other"
    home.mkdir()
    (home / "config.toml").write_text('rules = ["!*.md"]\n')
    marid.write({"a.py": "", "b.md": ""})
    assert marid("--home", str(home), "context", "-l").text == "a.py\n"


def test_every_command_is_found_by_name_and_nothing_else() -> None:
    assert [name for name in COMMANDS if find_command(name) is None] == []
    assert find_command("nothing") is None


def test_a_link_with_its_own_completion(marid: Program) -> None:
    marid.set(COMP_WORDS="jinni --list", COMP_CWORD="1", _JINNI_COMPLETE="bash_complete")
    assert marid(called="jinni").lines == ["plain,--list-only"]
