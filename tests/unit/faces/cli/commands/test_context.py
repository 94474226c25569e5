from contextlib import redirect_stdout

import click
import pytest

from fakes.program import Program
from fakes.terminal import terminal
from marid.faces.cli.argv.option_tables import GROUPS, OPTIONS
from marid.faces.cli.commands.context import command


def test_the_help_shows_every_option_in_its_group(marid: Program) -> None:
    shown = marid.context("--help")
    assert shown.code == 0
    titles = [line.rstrip(":") for line in shown.lines if line and not line.startswith(" ") and line.endswith(":")]
    assert titles == [*(title for title, _ in GROUPS), "Other"]
    assert [flag for option in OPTIONS for flag in option.flags if f"{flag}" not in shown.text] == []
    assert "-f, --format [text|markdown|xml|json]" in shown.text
    assert "--diff [REV]" in shown.text
    assert marid.context("-h").text == shown.text


def test_a_wrong_option_is_told_with_what_was_meant(marid: Program) -> None:
    told = marid.context("--list-onyl")
    assert (told.code, told.out) == (2, b"")
    assert "--list-only" in told.err


@pytest.mark.parametrize("args", [["--budget", "many"], ["--format", "yaml"], ["--output"]])
def test_a_wrong_value_is_bad_input(marid: Program, args: list[str]) -> None:
    assert marid.context(*args).code == 2


def test_called_as_jinni_a_path_is_needed(marid: Program) -> None:
    marid.write({"a.py": "x"})
    told = marid(called="/usr/bin/jinni")
    assert told.code == 2
    assert "Usage: jinni " in told.err
    assert "Missing argument '<path>'." in told.err
    assert marid(".", called="jinni").text.startswith("File: a.py\n")
    assert marid("--list-only", ".", called="jinni").text == "a.py\n"
    assert marid("--files-from", "a.py", called="jinni").code == 2


def test_the_documents_own_command_line_works(marid: Program) -> None:
    marid.write({"a.py": "x", "b.md": "y", "rules": "!*.md\n!rules\n"})
    assert marid("--list-only", "--config", "rules", ".", called="jinni").text == "a.py\n"
    assert marid(".", "--output", "out.txt", called="jinni").out == b""
    assert (marid.folder / "out.txt").read_text().startswith("File: a.py\n")


def test_targets_are_not_looked_at_by_click() -> None:
    with command.make_context("context", ["no/such/path"]) as ctx:
        assert ctx.params["targets"] == ("no/such/path",)
    assert isinstance(command, click.Command)


def test_an_overview_has_the_tree_the_size_and_what_to_try(marid: Program) -> None:
    marid.write({"a.py": "print()\n", "src/deep/b.py": "x\n"})
    shown = marid("overview")
    assert shown.code == 0
    assert shown.lines[:4] == [
        "project/  2 files, 10 B, 4 tokens (o200k_base)",
        "",
        "  src/           1 files            2 tokens",
        "    deep/        1 files            2 tokens",
    ]
    assert "          2 tokens  a.py" in shown.lines
    assert "Try" in shown.lines
    assert "\x1b" not in shown.text


def test_the_tree_is_as_deep_as_fits_on_a_screen(marid: Program) -> None:
    marid.write({f"{n:02}/sub/a.py": "x" for n in range(20)})
    lines = marid("overview", ".").lines
    assert any(line.startswith("  19/") for line in lines)
    assert not any("sub/ " in line for line in lines)


def test_a_wide_project_shows_its_first_folders_and_how_many_more(marid: Program) -> None:
    marid.write({f"{n:02}/a.py": "x" for n in range(60)})
    assert "  and 36 more folders" in marid("overview", ".").lines


def test_a_flat_project_has_no_tree(marid: Program) -> None:
    marid.write({"a.py": "x"})
    assert marid("overview", ".").lines[:3] == ["project/  1 files, 1 B, 1 tokens (o200k_base)", "", "Largest files"]


def test_headings_are_bold_on_a_terminal(marid: Program) -> None:
    marid.set(TERM="xterm")
    with terminal() as screen, redirect_stdout(screen.file):
        assert marid("overview").code == 0
        assert screen.text().startswith("\x1b[1mproject/\x1b[0m  ")


def test_a_project_that_is_not_there_is_told(marid: Program) -> None:
    told = marid("overview", "gone")
    assert (told.code, told.err) == (4, "marid: gone: not found\n")


def test_the_settings_of_the_user_count(marid: Program) -> None:
    marid.set(MARID_ENCODING="cl100k_base", MARID_MAX_SIZE_MB="0.000001")
    marid.write({"a.py": "print()\n"})
    assert marid("overview").lines[0] == "project/  1 files, 8 B, 2 tokens (cl100k_base)"
