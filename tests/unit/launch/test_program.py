import click
import pytest

from fakes.program import Program
from marid import __version__
from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import parse_command_line
from marid.faces.help_page import help_page
from marid.launch.commands import COMMANDS, command_groups, summaries
from marid.launch.program import find_command, program, run_command


def test_the_version_is_told(marid: Program) -> None:
    assert marid("--version").text == marid("-V").text == f"marid {__version__}\n"


def test_the_help_lists_every_command(marid: Program) -> None:
    shown = marid("--help-all")
    assert shown.code == marid("--help").code == 0
    told = " ".join(shown.text.split())
    assert [name for name, one in COMMANDS.items() if f"{name} {one.summary}" not in told] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_of_its_own(marid: Program, name: str) -> None:
    shown = marid(name, "-h")
    assert shown.code == 0
    assert shown.text.startswith(f"Usage: marid {name} ")


def test_an_unknown_option_is_told_with_the_nearest(marid: Program) -> None:
    told = marid("--verison")
    assert (told.code, told.out) == (2, b"")
    assert "unknown flag --verison; did you mean '--version'?" in told.err


def test_a_word_that_is_no_command_is_said(marid: Program) -> None:
    assert "offline" in marid("contemplate").text
    assert find_command("contxt") is None


def test_the_help_for_the_docs_does_not_depend_on_a_terminal() -> None:
    with click.Context(program, terminal_width=70) as ctx:
        assert program.get_help(ctx) == help_page(summaries(), command_groups(), width=70)


def test_home_may_be_given(marid: Program) -> None:
    home = marid.folder.parent / "other"
    home.mkdir()
    (home / "config.toml").write_text('rules = ["!*.md"]\n')
    marid.write({"a.py": "", "b.md": ""})
    assert marid("--home", str(home), "context", "-l").text == "a.py\n"


def test_a_project_may_be_given(marid: Program) -> None:
    other = marid.folder.parent / "other"
    other.mkdir()
    (other / ".marid.toml").write_text("fuel = 3\n")
    assert marid("--project-root", str(other), "-n", "fuel").text == "3\n"
    assert marid(f"--project-root={other}", "inspect", "fuel").text == "3\n"


_WHERE = [
    *(["-L"], ["hello"], ["-n", "fuel"], ["say", "hi"], ["resume"], ["conversations"], ["log"], ["inspect", "fuel"]),
    *(["clear"], ["set", "fuel", "3"], ["search", "--conversations", "x"], ["export"], ["inbox"], ["models"]),
    *(["model-info", "x"], ["config"], ["context"], ["tools"], ["tool", "get_tree"], ["allow", "."], ["approvals"]),
    *(["mcp"], ["overview"]),
]


@pytest.mark.parametrize("command", _WHERE, ids=" ".join)
@pytest.mark.parametrize("place", ["nowhere", "a.py"])
def test_a_project_that_is_no_folder_is_told_by_every_command(marid: Program, command: list[str], place: str) -> None:
    marid.write({"a.py": ""})
    told = marid("--project-root", place, *command)
    assert (told.code, told.out) == (4, b"")
    assert f"'{place}' is not a folder" in told.err
    assert not (marid.folder.parent / "home").exists()


def test_flags_before_a_command_are_given_to_it(marid: Program) -> None:
    marid.write({"a.txt": "x"})
    plain = marid("tool", "--read-only", "get_tree", "--path", ".", "--json")
    assert plain.code == 0
    assert marid("--read-only", "--json", "tool", "get_tree", "--path", ".") == plain
    assert marid("-v", "log").code == 0
    assert marid("-C", "work", "-s", "fuel=3", "inspect", "fuel").text == "3\n"


def test_what_changes_something_is_done_before_the_command(marid: Program) -> None:
    told = marid("-c", "work", "-u", "ann", "inspect", "username")
    assert told.text == "ann\n"
    assert marid("inspect", "-C", "default", "username").text == "user\n"
    assert marid("conversations", "show").lines[0] == "work"
    assert marid("-C", "work", "-r", "done", "inspect", "username").text == "ann\n"


@pytest.mark.parametrize(
    ("args", "flag"),
    [(["-L", "log"], "-L"), (["-C", "x", "tools"], "-C"), (["--raw", "tools"], "--raw"), (["-x", "context"], "-x")],
)
def test_a_flag_that_means_nothing_to_a_command_is_refused(marid: Program, args: list[str], flag: str) -> None:
    told = marid(*args)
    assert (told.code, told.out) == (2, b"")
    assert f"`marid {args[-1]}` has no flag {flag}" in told.err


def test_a_wrong_name_before_a_command_is_refused_before_anything_is_made(marid: Program) -> None:
    assert marid("-C", "../x", "log").code == 2
    assert marid("-c", "a/b", "say", "hello").code == 2
    assert not (marid.folder.parent / "home").exists()


def test_every_command_is_found_by_name_and_nothing_else() -> None:
    assert [name for name in COMMANDS if find_command(name) is None] == []
    assert find_command("nothing") is None


def test_the_name_of_chibi_is_a_command_line_of_flags_and_words(marid: Program) -> None:
    assert marid("-L", called="chibi") == marid("-L")
    for words in (["search", "for", "bugs"], ["context"], ["conversations"], ["help"]):
        told = marid(*words, called="chibi")
        assert ("offline" in told.text, told.err) == (True, "")
        assert " ".join(words) in marid("-g", "0").text
    shown = marid("--help", called="chibi").text
    assert shown.startswith("Usage: chibi [FLAGS] [PROMPT]...\n\n")
    assert "COMMAND" not in shown


def test_a_shell_is_offered_no_commands_for_chibi(marid: Program) -> None:
    marid.set(COMP_WORDS="chibi conv", COMP_CWORD="1", _CHIBI_COMPLETE="bash_complete")
    assert marid(called="chibi").lines == []
    marid.set(COMP_WORDS="chibi --show-t", COMP_CWORD="1", _CHIBI_COMPLETE="bash_complete")
    assert marid(called="chibi").lines == ["plain,--show-thinking"]


def test_the_other_links_have_no_commands_either(marid: Program) -> None:
    marid.write({"context": "the file\n", "log": "another\n"})
    assert "the file" in marid("context", called="jinni").text
    assert "another" in marid("log", called="jinni").text
    told = marid("context", called="chibi-json")
    assert (told.code, '"invalid_input"' in told.err) == (2, True)


def test_another_link_is_its_own_command(marid: Program) -> None:
    marid.write({"a.py": "x\n"})
    assert marid("-l", ".", called="jinni").text == "a.py\n"
    assert marid(called="jinni").code == 2


def test_a_shell_that_asks_for_nonsense_gets_nothing(marid: Program) -> None:
    marid.set(_MARID_COMPLETE="tcsh_complete")
    assert (marid().code, marid().text) == (1, "")


def test_a_link_with_its_own_completion(marid: Program) -> None:
    marid.set(COMP_WORDS="jinni --list", COMP_CWORD="1", _JINNI_COMPLETE="bash_complete")
    assert marid(called="jinni").lines == ["plain,--list-only"]


@pytest.mark.parametrize(("flags", "asked"), [((), False), (("--debug", "all"), True)])
def test_a_server_knows_whether_it_should_show_where_a_bug_is(flags: tuple[str, ...], asked: bool) -> None:
    def make_app() -> RequestScope:
        raise BadInput(str(click.get_current_context().meta["marid.debug"]))

    with pytest.raises(BadInput, match=str(asked)):
        run_command(parse_command_line([*flags, "mcp"], COMMANDS), make_app)
